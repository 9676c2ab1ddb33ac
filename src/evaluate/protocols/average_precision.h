// How well scores rank what is true above the rest.
#pragma once

#include <span>
#include <vector>

namespace whyformer {

// Σ (recall - recall before) · precision over the distinct scores from the highest on, as
// scikit-learn computes it. Nothing is interpolated. 0 where nothing is true.
double average_precision(std::span<const double> scores, const std::vector<bool>& truth);

}  // namespace whyformer
