// The files that a command writes.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <system_error>
#include <vector>

#include "whyformer/error.h"
#include "whyformer/files.h"

namespace whyformer::cli {

// Before long work: throws FileError where one of the files could not be written because its folder is missing.
inline void check_folders_of(std::initializer_list<std::string> files) {
  for (const std::string& file : files) {
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    std::error_code unreadable;
    if (folder.empty() || std::filesystem::is_directory(folder, unreadable)) continue;
    throw FileError(fmt::format("cannot write '{}': there is no folder '{}'", file, folder.string()));
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
    for (const NamedBytes& file : files_) fmt::print(stderr, "wrote {}\n", file.path.string());
  }

 private:
  std::vector<NamedBytes> files_;
};

}  // namespace whyformer::cli
