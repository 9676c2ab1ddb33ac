// The pieces of a text behind its tokens, and texts in which some of them are masked: as the text
// masker of the shap package does it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "readers/tokenizers/tokenizer.h"

namespace whyformer {

// One per token: its characters with the white space after it. Special tokens stand for nothing,
// but the one in front owns white space before the first word. `pair` is empty where there is no
// second text.
std::vector<std::string> token_segments(const Encoding& encoding, std::string_view text,
                                        std::string_view pair);

// The text number `segment` with " MASK" for every hidden token and white space tidied. Without a
// mask token of the tokenizer, one "..." stands for all hidden tokens in a row.
std::string masked_text(const Encoding& encoding, const std::vector<std::string>& segments,
                        int segment, const std::vector<bool>& hidden,
                        const std::string& mask_token);

// \w of Python's regular expressions: a letter, a digit or an underscore.
bool is_word_character(char32_t c);

// Without white space around it.
std::string_view trimmed(std::string_view text);

}  // namespace whyformer
