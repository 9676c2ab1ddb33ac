// Whether draws look uniform, for tests of p-values and percentiles.
#pragma once

#include <vector>

namespace whyformer {

struct UniformityTest {
  double statistic = 0;
  double p_value = 1;
};

// Kolmogorov and Smirnov's two-sided test against the uniform distribution on [0, 1].
UniformityTest uniformity(std::vector<double> sample);

}  // namespace whyformer
