#include "base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/temporary_file.h"
#include "whyformer/error.h"
#include "whyformer/files.h"

namespace whyformer {
namespace {

namespace fs = std::filesystem;

// A device or a pipe has no half-written state, and replacing it by a file would break it.
void write_in_place(const fs::path& path, std::string_view content) {
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) fail_writing(path, errno);
  const int error = write_all(fd, content);
  close(fd);
  if (error != 0) fail_writing(path, error);
}

int write_and_flush(const TemporaryFile& file, std::string_view content) {
  int error = write_all(file.fd, content);
  if (error == 0 && fsync(file.fd) != 0) error = errno;
  if (close(file.fd) != 0 && error == 0) error = errno;
  return error;
}

// A written temporary file that becomes `target`, or nothing.
class FileReplacement {
 public:
  FileReplacement(fs::path target, fs::path temporary)
      : target_(std::move(target)), temporary_(std::move(temporary)) {}
  FileReplacement(FileReplacement&& other) noexcept
      : target_(std::move(other.target_)), temporary_(std::exchange(other.temporary_, {})) {}
  FileReplacement& operator=(FileReplacement&&) = delete;
  ~FileReplacement() {
    if (!temporary_.empty()) unlink(temporary_.c_str());
  }

  void finish() {
    if (rename(temporary_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
    temporary_.clear();
  }

 private:
  fs::path target_, temporary_;
};

}  // namespace

void write_file(const fs::path& path, std::string_view content) {
  const FileContent only[] = {{path, content}};
  write_files(only);
}

void write_files(std::span<const FileContent> files) {
  std::vector<FileReplacement> replacements;
  std::vector<FileContent> in_place;
  for (const auto& [path, content] : files) {
    struct stat status;
    const bool exists = stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail_writing(path, EISDIR);
    if (exists && !S_ISREG(status.st_mode)) {
      in_place.push_back({path, content});
      continue;
    }
    const fs::path target = behind_links(path);
    const TemporaryFile file = create_beside(path, target, exists ? status.st_mode & 0777 : 0666);
    replacements.emplace_back(target, file.path);
    if (const int error = write_and_flush(file, content); error != 0) fail_writing(path, error);
  }
  for (const auto& [path, content] : in_place) write_in_place(path, content);
  for (FileReplacement& replacement : replacements) replacement.finish();
}

std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code unreadable;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, unreadable); ++i) {
    path = path.parent_path() / std::filesystem::read_symlink(path, unreadable);
  }
  return path;
}

FileLookup files_in(const std::filesystem::path& folder) {
  if (folder.empty())
    throw FileError(
        "the model's path is empty: give that of a HuggingFace model folder or of an ONNX file");
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) {
    throw FileError(fmt::format(
        "there is no '{}': give the path of a HuggingFace model folder or of an ONNX file",
        folder.string()));
  }
  if (!std::filesystem::is_directory(folder, error)) {
    throw FileError(fmt::format(
        "'{}' is not a folder: give the HuggingFace folder that holds config.json, the weights and "
        "the tokenizer",
        folder.string()));
  }
  return [folder](std::string_view name) -> std::optional<Bytes> {
    const std::filesystem::path path = folder / name;
    std::error_code error;
    // Where a link leads in circles the error is what reading it says, not that there is no file.
    if (!std::filesystem::exists(path, error) && !error) return std::nullopt;
    return map_file(path);
  };
}

}  // namespace whyformer
