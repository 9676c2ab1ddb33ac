// Least angle regression and the lasso path it walks along, step by step as scikit-learn's
// `lars_path`.
#pragma once

#include <cstdint>
#include <vector>

#include "games/augmented_system.h"

namespace whyformer {

enum class PathKind {
  kLeastAngle,
  kLasso,  // a coefficient that reaches 0 leaves
};

struct LeastAnglePath {
  std::vector<int64_t> active;             // in order of entry
  std::vector<std::vector<double>> knots;  // coefficients, from all 0 on
};

// Columns that depend on those already active never enter; scikit-learn then confuses its columns.
LeastAnglePath least_angle_path(const GramSystem& system, PathKind kind, int64_t most_passes);

}  // namespace whyformer
