// Scores drawn at random for one input, which all its comparisons with chance share.
#pragma once

#include <cstdint>
#include <vector>

namespace whyformer {

// Uniform in [-0.5, 0.5), the same for a seed and a number.
std::vector<double> drawn_scores(int64_t units, int64_t seed, int64_t number);

}  // namespace whyformer
