// What every reader of weight files checks, and how it tells.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whyformer {

// No model has tensors near this many dimensions; more is a sign of a damaged file.
inline constexpr size_t kMaxDimensions = 16;

// Text from a file between quotes, printable so that it can neither break the line of a message nor
// command a terminal, and short enough for one.
std::string in_quotes(std::string_view text);

// "438.0 MB", or exact bytes when small.
std::string size_text(uint64_t bytes);

// Throws a FileError: "'what' <problem>; download it again".
[[noreturn]] void throw_damaged(std::string_view what, std::string_view problem);

// Throws a FileError which compares the size a file should have with the one it has.
[[noreturn]] void throw_truncated(std::string_view what, uint64_t needed, uint64_t present);

// Throws a FileError for the stand-in which Git LFS leaves until the file itself is fetched.
void check_not_a_pointer(std::string_view file, std::string_view what);

// Bytes of product(shape) elements. False when a size is negative or the product passes 2^63 - 1.
bool byte_count(std::span<const int64_t> shape, size_t width, uint64_t& bytes);

}  // namespace whyformer
