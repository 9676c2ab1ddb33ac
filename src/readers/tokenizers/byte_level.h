// GPT-2's byte alphabet (every byte is a printable character) and its way to split a text into
// words.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "readers/tokenizers/aligned_text.h"

namespace whyformer::tokenization {

char32_t byte_character(unsigned char byte);
constexpr char32_t kSpaceCharacter = 0x120;  // what a space becomes

// Replaces every byte of the text's UTF-8 by its character.
void bytes_to_characters(AlignedText& aligned);

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+ ; the matches cover
// the text.
std::vector<Match> find_gpt2_words(std::string_view text);

}  // namespace whyformer::tokenization
