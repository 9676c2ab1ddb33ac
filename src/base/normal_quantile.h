// Where a standard normal variable lies below with a given probability.
#pragma once

namespace whyformer {

// The inverse of the normal distribution function: -inf at 0, inf at 1, NaN outside [0, 1].
double normal_quantile(double probability);

}  // namespace whyformer
