// Sentences in CoNLL-U.
#pragma once

#include <string_view>
#include <vector>

#include "whyformer/treebank.h"

namespace whyformer {

// As read_treebank(). Throws InvalidInput that names the line.
std::vector<ParsedSentence> parse_conllu(std::string_view text, int64_t limit = 0);

}  // namespace whyformer
