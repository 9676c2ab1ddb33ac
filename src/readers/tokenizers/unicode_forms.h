// Unicode normalisation forms as Unicode 9 defines them, told as changes so that offsets survive.
#pragma once

#include <string_view>
#include <vector>

#include "readers/tokenizers/aligned_text.h"

namespace whyformer::tokenization {

enum class UnicodeForm { kNfd, kNfkd, kNfc, kNfkc };

std::vector<CharacterChange> normalization_changes(std::string_view text, UnicodeForm form);

}  // namespace whyformer::tokenization
