// UTF-8 text as reports need it: sliced by code points, measured in columns, made harmless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "whyformer/printable.h"

namespace whyformer::report {

// The text with every invalid byte sequence replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

// Slices of a text by code point offsets; offsets outside the text are clamped.
class CodePoints {
 public:
  explicit CodePoints(std::string_view text);

  int64_t size() const { return static_cast<int64_t>(starts_.size()) - 1; }
  std::string slice(int64_t start, int64_t end) const;

 private:
  std::string text_;
  std::vector<size_t> starts_;  // of each code point, then the end
};

// Columns that a terminal needs: wide East Asian characters and emoji take two, marks none.
int columns(std::string_view text);

// What a reader perceives as characters.
std::vector<std::string> graphemes(std::string_view text);

// The text cut to at most `limit` columns, ending in "…" where something was cut.
std::string shortened(std::string_view text, int limit);

// Blanks before (or after) the text until it takes `width` columns.
std::string right_aligned(std::string_view text, int width);
std::string left_aligned(std::string_view text, int width);

// Text as it stands in HTML and SVG, also inside quoted attributes; printable, since XML has no
// control characters.
std::string escape_markup(std::string_view text);

}  // namespace whyformer::report
