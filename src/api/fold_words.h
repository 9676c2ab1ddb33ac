// Scores of word pieces folded to words.
#pragma once

#include <vector>

#include "whyformer/model.h"

namespace whyformer {

std::vector<WordScore> fold_words(const std::vector<Unit>& units, const std::vector<double>& scores,
                                  const TextInput& input, WordFold fold);

}  // namespace whyformer
