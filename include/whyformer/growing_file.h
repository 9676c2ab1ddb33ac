// A file that gets longer while the work goes on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <utility>

namespace whyformer {

// Made of whole pieces whenever one looks, also after the program was killed. What stood at `path`
// stays until there is a first piece, which takes its place in one step. Devices and pipes are
// written to as they are.
class GrowingFile {
 public:
  explicit GrowingFile(std::filesystem::path path) : path_(std::move(path)) {}
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;

  // Throws FileError where the piece could not be written whole; the file is then as it was before.
  void add(std::string_view piece);
  // Waits until everything is on the disk, and closes the file. Throws FileError.
  void finish();

 private:
  void start(std::string_view piece);

  std::filesystem::path path_;
  int fd_ = -1;
  bool regular_ = true;
  int64_t size_ = 0;  // of the whole pieces
};

}  // namespace whyformer
