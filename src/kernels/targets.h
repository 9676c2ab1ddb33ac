// The instruction sets that the kernels are compiled for.
#pragma once

#include <string>
#include <vector>

namespace whyformer {

// Those that this processor has, the best first.
std::vector<std::string> supported_target_names();

}  // namespace whyformer
