// Named input units of a tokenized text, and their scores folded to words.
#pragma once

#include <vector>

#include "inputs/tokenizer.h"
#include "whyformer/model.h"

namespace whyformer {

// One unit per token; word indices run on from the text to its pair.
std::vector<Unit> units_of(const Encoding& encoding);

std::vector<WordScore> fold_words(const std::vector<Unit>& units, const std::vector<double>& scores,
                                  const TextInput& input, WordFold fold);

// Code points `start` to `end` of UTF-8 text.
std::string code_points(std::string_view text, int64_t start, int64_t end);

}  // namespace whyformer
