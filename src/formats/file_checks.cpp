#include "formats/file_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {

std::string in_quotes(std::string_view text) {
  constexpr size_t kLongest = 80;
  if (text.size() <= kLongest) return fmt::format("'{}'", printable(text));
  size_t end = kLongest;  // not inside a character
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("'{}...'", printable(text.substr(0, end)));
}

std::string size_text(uint64_t bytes) {
  return bytes < 1'000'000 ? fmt::format("{} bytes", bytes)
                           : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

void throw_damaged(std::string_view what, std::string_view problem) {
  throw FileError(fmt::format("{} {}; download it again", in_quotes(what), problem));
}

void throw_truncated(std::string_view what, uint64_t needed, uint64_t present) {
  std::string should = size_text(needed), has = size_text(present);
  if (should == has) {
    should = fmt::format("{} bytes", needed);
    has = fmt::format("{} bytes", present);
  }
  throw_damaged(what, fmt::format("is truncated: it should have {} and has {}", should, has));
}

void check_not_a_pointer(std::string_view file, std::string_view what) {
  if (!file.starts_with("version https://git-lfs")) return;
  throw FileError(
      fmt::format("{} is a Git LFS pointer, not the weights; run 'git lfs pull'", in_quotes(what)));
}

bool byte_count(std::span<const int64_t> shape, size_t width, uint64_t& bytes) {
  constexpr uint64_t kLargest = std::numeric_limits<int64_t>::max();
  if (std::ranges::any_of(shape, [](int64_t size) { return size < 0; })) return false;
  bytes = width;
  if (std::ranges::find(shape, 0) != shape.end()) bytes = 0;
  for (const int64_t size : shape) {
    if (bytes != 0 && static_cast<uint64_t>(size) > kLargest / bytes) return false;
    bytes *= static_cast<uint64_t>(size);
  }
  return true;
}

}  // namespace whyformer
