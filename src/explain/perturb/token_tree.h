// A binary tree over the tokens of a text that follows its sentences, as the shap package builds it.
#pragma once

#include <string>
#include <vector>

#include "whyformer/games.h"

namespace whyformer {

// `segments` as token_segments gives them; `separator` is the token between two texts, empty where there is none.
PlayerTree token_tree(const std::vector<std::string>& segments, const std::string& separator);

}  // namespace whyformer
