// The files that a command writes.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <system_error>
#include <vector>

#include "console.h"
#include "whyformer/error.h"
#include "whyformer/files.h"
#include "whyformer/report.h"

namespace whyformer::cli {

// Two names of one file, also through links; "-" is standard output, and devices and pipes may be
// written to twice.
inline bool are_one_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty() || a == "-" || b == "-") return false;
  std::error_code unreadable;
  if (std::filesystem::exists(a, unreadable) && !std::filesystem::is_regular_file(a, unreadable))
    return false;
  // Of files that are not there yet, names are compared.
  const auto name_of = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(
        behind_links(std::filesystem::absolute(path, unreadable)), unreadable);
  };
  return std::filesystem::equivalent(a, b, unreadable) || name_of(a) == name_of(b);
}

inline void check_folders_of(std::initializer_list<std::string> files) {
  for (const std::string& file : files) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    std::error_code unreadable;
    if (folder.empty() || std::filesystem::is_directory(folder, unreadable)) continue;
    throw FileError(
        fmt::format("cannot write '{}': there is no folder '{}'", file, folder.string()));
  }
}

// Before long work: throws FileError where a file could not be written because its folder is
// missing, and InvalidInput where it would overwrite another or what the command reads.
inline void check_outputs(std::initializer_list<std::string> files,
                          const std::vector<std::string>& inputs) {
  check_folders_of(files);
  for (auto file = files.begin(); file != files.end(); ++file) {
    for (auto other = files.begin(); other != file; ++other) {
      if (!are_one_file(*file, *other)) continue;
      throw InvalidInput(fmt::format(
          "two outputs go to the file '{}', where one would overwrite the other: give each its own",
          *file));
    }
    for (const std::string& input : inputs) {
      if (!are_one_file(*file, input)) continue;
      throw InvalidInput(
          fmt::format("the output '{}' would overwrite what is read: give it another name", *file));
    }
  }
}

// Everything is made before anything is written: a failure leaves no half set of files.
class OutputFiles {
 public:
  // Nothing for an empty path, and for "-", which is standard output.
  template <class Make>
  void add(const std::string& path, Make make) {
    if (!path.empty() && path != "-") files_.push_back({path, make()});
  }
  void write() const { save_all(files_); }
  void name_them() const {
    for (const NamedBytes& file : files_) tell("wrote " + file.path.string());
  }

 private:
  std::vector<NamedBytes> files_;
};

// Writes the files and prints the report: as JSON where the name of its file, `json`, is "-", else
// for the terminal.
template <typename Report>
void show(const Report& report, const std::string& json, OutputFiles files) {
  files.add(json, [&] { return to_json(report) + "\n"; });
  files.write();
  if (json == "-")
    print(to_json(report) + "\n");
  else
    print(to_terminal(report, {.colour = may_colour(), .width = terminal_width()}));
  files.name_them();
}

}  // namespace whyformer::cli
