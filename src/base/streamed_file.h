// A file that is written piece by piece and is there whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

namespace whyformer {

// Devices and pipes are written to as they are.
class StreamedFile {
 public:
  // Throws FileError.
  explicit StreamedFile(std::filesystem::path path);
  ~StreamedFile();  // leaves what was there before where it was not finished
  StreamedFile(const StreamedFile&) = delete;
  StreamedFile& operator=(const StreamedFile&) = delete;

  void add(std::string_view piece);
  void finish();

 private:
  std::filesystem::path path_, target_, temporary_;  // no temporary one: in place
  int fd_ = -1;
};

}  // namespace whyformer
