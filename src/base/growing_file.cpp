#include "whyformer/growing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <tuple>
#include <utility>

#include "base/temporary_file.h"
#include "whyformer/files.h"

namespace whyformer {

GrowingFile::~GrowingFile() {
  if (fd_ >= 0) close(fd_);
}

void GrowingFile::add(std::string_view piece) {
  if (fd_ < 0) return start(piece);
  if (const int error = write_all(fd_, piece); error != 0) {
    // Half a piece is none. Where even that fails there is nothing more to try.
    if (regular_) std::ignore = ftruncate(fd_, size_);
    fail_writing(path_, error);
  }
  size_ += static_cast<int64_t>(piece.size());
}

void GrowingFile::start(std::string_view piece) {
  struct stat status;
  const bool exists = stat(path_.c_str(), &status) == 0;
  regular_ = !exists || S_ISREG(status.st_mode);
  if (!regular_) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail_writing(path_, errno);
    return add(piece);
  }
  const std::filesystem::path target = behind_links(path_);
  const TemporaryFile file = create_beside(path_, target, exists ? status.st_mode & 0777 : 0666);
  int error = write_all(file.fd, piece);
  if (error == 0 && rename(file.path.c_str(), target.c_str()) != 0) error = errno;
  if (error != 0) {
    close(file.fd);
    unlink(file.path.c_str());
    fail_writing(path_, error);
  }
  fd_ = file.fd;
  size_ = static_cast<int64_t>(piece.size());
}

void GrowingFile::finish() {
  if (fd_ < 0) return;
  const int fd = std::exchange(fd_, -1);
  int error = regular_ && fsync(fd) != 0 ? errno : 0;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error != 0) fail_writing(path_, error);
}

}  // namespace whyformer
