// What the outputs of a model are called.
#pragma once

#include <string>

#include "whyformer/explanation.h"

namespace whyformer {

// Of an output by its index: its label, or "label 3" where it has none.
std::string label_name(const Explanation& explanation, size_t index);

// Of the explained output.
std::string target_name(const Explanation& explanation);

}  // namespace whyformer
