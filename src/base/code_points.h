// UTF-8 text sliced by code points.
#pragma once

#include <unicode/utf8.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace whyformer {

// Calls visit(code_point, start, end) for each; an invalid sequence is U+FFFD.
template <typename Visit>
void for_each_code_point(std::string_view text, Visit visit) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  const auto length = static_cast<int64_t>(text.size());
  for (int64_t i = 0; i < length;) {
    const int64_t start = i;
    UChar32 code_point;
    U8_NEXT_OR_FFFD(bytes, i, length, code_point);
    visit(code_point, static_cast<size_t>(start), static_cast<size_t>(i));
  }
}

// The text with every invalid byte sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

// Code points `start` to `end` of text as it is, empty where there are none.
std::string code_points(std::string_view text, int64_t start, int64_t end);

// Slices of a text by code point offsets; offsets outside the text are clamped.
class CodePointText {
 public:
  explicit CodePointText(std::string_view text);

  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  std::string slice(int64_t start, int64_t end) const;

 private:
  std::string text_;
  std::vector<size_t> starts_;  // of each code point, then the end
};

}  // namespace whyformer
