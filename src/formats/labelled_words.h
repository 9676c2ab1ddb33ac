// Sentences with a label for each word.
#pragma once

#include <string_view>

#include "whyformer/learned.h"

namespace whyformer {

// As read_labelled_words(). Throws InvalidInput that names the line.
std::vector<LearnedExample> parse_labelled_words(std::string_view text, int64_t limit = 0);

}  // namespace whyformer
