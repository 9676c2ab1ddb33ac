// Blocks of a model as they are written: "3", "1,3" or "all".
#pragma once

#include <string>
#include <vector>

namespace whyformer::cli {

// Empty for all. Throws InvalidInput.
std::vector<int> layers_of(const std::string& text);

}  // namespace whyformer::cli
