#include "base/streamed_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/temporary_file.h"
#include "whyformer/files.h"

namespace whyformer {

StreamedFile::StreamedFile(std::filesystem::path path) : path_(std::move(path)) {
  struct stat status;
  const bool exists = stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_writing(path_, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail_writing(path_, errno);
    return;
  }
  target_ = behind_links(path_);
  const TemporaryFile file = create_beside(path_, target_, exists ? status.st_mode & 0777 : 0666);
  temporary_ = file.path;
  fd_ = file.fd;
}

StreamedFile::~StreamedFile() {
  if (fd_ < 0) return;
  close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void StreamedFile::add(std::string_view piece) {
  if (const int error = write_all(fd_, piece); error != 0) fail_writing(path_, error);
}

void StreamedFile::finish() {
  if (!temporary_.empty() && fsync(fd_) != 0) fail_writing(path_, errno);
  const int fd = std::exchange(fd_, -1);
  const bool closed = close(fd) == 0;
  if (temporary_.empty()) {
    if (!closed) fail_writing(path_, errno);
    return;
  }
  if (closed && std::rename(temporary_.c_str(), target_.c_str()) == 0) return;
  const int error = errno;
  unlink(temporary_.c_str());
  fail_writing(path_, error);
}

}  // namespace whyformer
