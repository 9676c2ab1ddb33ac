// Tests of two methods over the same examples.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace whyformer {

struct SignedRankTest {
  double statistic = 0;  // the smaller sum of ranks
  double p_value = 1;    // two-sided
  int64_t pairs = 0;     // that differ
};

// Wilcoxon's signed-rank test that a - b is symmetric about 0. Pairs that do not differ are left
// out. p as SciPy's wilcoxon(a, b) chooses it: exact for up to 50 pairs without ties and zeros and
// for up to 13 pairs with them, else from the normal distribution with its correction for ties.
// Nothing where no pair differs or a difference is not a number. Throws InvalidInput where the
// sides differ in length.
std::optional<SignedRankTest> wilcoxon(std::span<const double> a, std::span<const double> b);

// p-values of a family of tests, adjusted by Holm's step-down procedure; in the order given. Throws
// InvalidInput for a p-value outside [0, 1].
std::vector<double> holm(std::span<const double> p_values);

}  // namespace whyformer
