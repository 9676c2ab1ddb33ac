#include "base/normal_quantile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace whyformer {
namespace {

// Newton's method on the error function's series in decimal arithmetic of 120 digits.
TEST(NormalQuantile, HasTheKnownPercentagePoints) {
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(normal_quantile(0.975), 1.9599639845400538, 1e-15);
  EXPECT_NEAR(normal_quantile(0.9), 1.2815515655446006, 1e-15);
  EXPECT_NEAR(normal_quantile(0.001), -3.0902323061678136, 1e-15);
  EXPECT_NEAR(normal_quantile(1e-20), -9.262340089798407, 1e-14);
}

TEST(NormalQuantile, IsTheInverseOfTheDistributionFunction) {
  for (double z = -8; z <= 0; z += 0.01) {
    const double p = std::erfc(-z / std::numbers::sqrt2) / 2;
    EXPECT_NEAR(normal_quantile(p), z, 1e-14 * std::max(1.0, -z)) << z;
  }
}

TEST(NormalQuantile, IsInfiniteAtTheEndsAndNoNumberOutside) {
  EXPECT_EQ(normal_quantile(0), -INFINITY);
  EXPECT_EQ(normal_quantile(1), INFINITY);
  EXPECT_TRUE(std::isnan(normal_quantile(-1e-9)));
  EXPECT_TRUE(std::isnan(normal_quantile(1.1)));
  EXPECT_TRUE(std::isnan(normal_quantile(NAN)));
}

}  // namespace
}  // namespace whyformer
