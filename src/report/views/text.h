// UTF-8 text as reports need it: measured in columns, cut and made harmless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/code_points.h"
#include "whyformer/printable.h"

namespace whyformer::report {

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
