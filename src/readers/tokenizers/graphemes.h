// Extended grapheme clusters (Unicode Standard Annex 29).
#pragma once

#include <cstddef>
#include <string_view>

namespace whyformer::tokenization {

// The end of the cluster that starts at `begin`. `text` is well-formed UTF-8.
size_t grapheme_end(std::string_view text, size_t begin);

}  // namespace whyformer::tokenization
