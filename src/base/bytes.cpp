#include "base/bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "whyformer/error.h"

namespace whyformer {
namespace {

struct Mapping {
  void* data = nullptr;
  size_t size = 0;
  Mapping(void* data, size_t size) : data(data), size(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(data, size); }
};

struct Descriptor {
  int fd;
  ~Descriptor() { close(fd); }
};

[[noreturn]] void fail(const std::filesystem::path& path) {
  throw FileError(fmt::format("cannot read '{}': {}", path.string(), std::strerror(errno)));
}

}  // namespace

Bytes map_file(const std::filesystem::path& path) {
  // A pipe without a writer would wait for one.
  const Descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) fail(path);
  struct stat status;
  if (fstat(file.fd, &status) != 0) fail(path);
  if (!S_ISREG(status.st_mode)) {
    throw FileError(fmt::format("cannot read '{}': it is not a file", path.string()));
  }
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return {};
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) fail(path);
  auto mapping = std::make_shared<Mapping>(data, size);
  return {{static_cast<const std::byte*>(data), size}, mapping};
}

Bytes bytes_of(std::string text) {
  auto owner = std::make_shared<std::string>(std::move(text));
  return {std::as_bytes(std::span(*owner)), owner};
}

}  // namespace whyformer
