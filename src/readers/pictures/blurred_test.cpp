#include "readers/pictures/blurred.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace whyformer {
namespace {

TEST(Blur, KeepsConstantsAndSpreadsAPoint) {
  const Tensor constant = Tensor::of<double>({1, 3, 4}, std::vector<double>(12, 0.7));
  for (const double value : blurred(constant, 2).to_doubles()) EXPECT_NEAR(value, 0.7, 1e-12);
  std::vector<double> point(21 * 21, 0.0);
  point[10 * 21 + 10] = 1;
  const std::vector<double> spread =
      blurred(Tensor::of<double>({1, 21, 21}, std::span<const double>(point)), 1.5).to_doubles();
  // The Gaussian cut at three deviations, normalised.
  double norm = 0;
  for (int k = -5; k <= 5; ++k) norm += std::exp(-0.5 * k * k / 2.25);
  EXPECT_NEAR(spread[10 * 21 + 12], std::exp(-0.5 * 4 / 2.25) / (norm * norm), 1e-12);
  EXPECT_NEAR(std::accumulate(spread.begin(), spread.end(), 0.0), 1, 1e-12);
}

}  // namespace
}  // namespace whyformer
