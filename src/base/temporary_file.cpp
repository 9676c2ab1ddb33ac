#include "base/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "whyformer/error.h"

namespace whyformer {

void fail_writing(const std::filesystem::path& path, int error) {
  throw FileError(fmt::format("cannot write '{}': {}", path.string(), std::strerror(error)));
}

int write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) content.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

TemporaryFile create_beside(const std::filesystem::path& shown, const std::filesystem::path& target,
                            mode_t mode) {
  static std::atomic<unsigned> serial = 0;
  while (true) {
    const std::string name =
        fmt::format(".{}.{}-{}.tmp", target.filename().string(), getpid(), serial++);
    const std::filesystem::path path = target.parent_path() / name;
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) return {path, fd};
    if (errno != EEXIST) fail_writing(shown, errno);
  }
}

}  // namespace whyformer
