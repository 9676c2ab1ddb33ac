// Steps of writing a file that takes the place of another.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace whyformer {

// Throws FileError that names the path and the reason, an errno.
[[noreturn]] void fail_writing(const std::filesystem::path& path, int error);

// Returns an errno, or 0 when all is written.
int write_all(int fd, std::string_view content);

struct TemporaryFile {
  std::filesystem::path path;
  int fd;
};

// A new file in the folder of `target`; `shown` is the path that errors name.
TemporaryFile create_beside(const std::filesystem::path& shown, const std::filesystem::path& target,
                            mode_t mode);

}  // namespace whyformer
