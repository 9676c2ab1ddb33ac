// Reads little-endian fields one after the other, and never past the end.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "formats/file_checks.h"

namespace whyformer {

class ByteReader {
 public:
  // `what` names the file in messages; both must outlive the reader.
  ByteReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  std::string_view what() const { return what_; }
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  std::string_view take(uint64_t count) {
    if (count > remaining()) throw_damaged(what_, "is truncated: it ends in the middle of a field");
    const std::string_view taken = bytes_.substr(position_, count);
    position_ += count;
    return taken;
  }

  template <typename Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof(value)).data(), sizeof(value));
    return value;
  }

  // Up to the next newline, which is passed over.
  std::string_view line() {
    const size_t end = bytes_.find('\n', position_);
    if (end == std::string_view::npos) throw_damaged(what_, "is truncated: it ends within a line");
    const std::string_view text = take(end - position_);
    ++position_;
    return text;
  }

 private:
  std::string_view bytes_;
  std::string_view what_;
  size_t position_ = 0;
};

}  // namespace whyformer
