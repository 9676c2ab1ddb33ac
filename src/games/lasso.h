// The lasso by coordinate descent.
#pragma once

#include <vector>

#include "games/augmented_system.h"

namespace whyformer {

// Coefficients w that minimise ‖Y - X w‖² / (2 rows) + alpha ‖w‖₁, to scikit-learn's tolerance:
// duality gap below 1e-4 ‖Y‖², at most 1000 rounds. With the same rounds and screening, so that the
// same coefficients are 0.
std::vector<double> lasso(const GramSystem& system, double alpha);

}  // namespace whyformer
