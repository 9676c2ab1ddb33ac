#include "base/large_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "whyformer/error.h"

namespace whyformer {
namespace {

[[noreturn]] void fail(const std::string& folder, int64_t bytes, int error) {
  throw FileError(
      fmt::format("cannot keep {} MB in a temporary file in '{}': {}; set TMPDIR to a folder with "
                  "room, or ask for less",
                  (bytes >> 20) + 1, folder, std::strerror(error)));
}

// A mapping of fresh file space. All of it is reserved at once: a disk that is full says so here,
// and not as a signal in the middle of the work.
void* map_temporary(int64_t bytes) {
  std::error_code ignored;
  const std::string folder = std::filesystem::temp_directory_path(ignored).string();
  std::string name = folder + "/whyformer-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) fail(folder, bytes, errno);
  unlink(name.c_str());
  const int reserved = posix_fallocate(file, 0, bytes);
  if (reserved != 0) {
    close(file);
    fail(folder, bytes, reserved);
  }
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const int error = errno;
  close(file);
  if (memory == MAP_FAILED) fail(folder, bytes, error);
  return memory;
}

}  // namespace

std::shared_ptr<float[]> large_floats(int64_t count, LargeMemory kind) {
  if (kind == LargeMemory::kResident || count == 0) return std::make_shared<float[]>(count);
  const auto bytes = static_cast<int64_t>(count * sizeof(float));
  void* memory = map_temporary(bytes);
  return {static_cast<float*>(memory), [bytes](float* start) { munmap(start, bytes); }};
}

}  // namespace whyformer
