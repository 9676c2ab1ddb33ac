#include "kernels/impacts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/every_target.h"

namespace whyformer {
namespace {

TEST(Impacts, InFloatEqualThoseInDouble) {
  for_every_target([] {
    for (const int64_t count : {0, 1, 7, 8, 16, 31, 33, 200}) {
      std::vector<float> slopes(count), x(count), impacts(count), shares(count, 0.5f);
      for (int64_t i = 0; i < count; ++i) {
        slopes[i] = std::sin(static_cast<float>(i));
        x[i] = std::cos(3 * static_cast<float>(i));
      }
      const std::vector<double> wide_slopes(slopes.begin(), slopes.end()),
          wide_x(x.begin(), x.end());
      std::vector<double> wide_impacts(count), wide_shares(count, 0.5);
      const SignSums<float> sums =
          measure_impacts(slopes.data(), x.data(), 0.1f, impacts.data(), count);
      const SignSums<double> wide_sums =
          measure_impacts(wide_slopes.data(), wide_x.data(), 0.1, wide_impacts.data(), count);
      EXPECT_NEAR(sums.positive, wide_sums.positive, 1e-4);
      EXPECT_NEAR(sums.negative, wide_sums.negative, 1e-4);
      share_by_sign(impacts.data(), {2, -3}, shares.data(), count);
      share_by_sign(wide_impacts.data(), {2, -3}, wide_shares.data(), count);
      EXPECT_THAT(shares,
                  testing::Pointwise(testing::FloatNear(1e-5f),
                                     std::vector<float>(wide_shares.begin(), wide_shares.end())));
    }
  });
}

TEST(Impacts, AreGroupedByTheSignOfProductAndConstantTogether) {
  const double slopes[] = {1, -1, 2}, x[] = {3, 3, 0};
  double impacts[3], shares[3] = {0, 0, 0};
  const SignSums<double> sums = measure_impacts(slopes, x, -1.0, impacts, 3);
  EXPECT_THAT(impacts, testing::ElementsAre(2, -4, -1));
  EXPECT_EQ(sums.positive, 2);
  EXPECT_EQ(sums.negative, -5);
  share_by_sign(impacts, {0.5, -0.25}, shares, 3);
  EXPECT_THAT(shares, testing::ElementsAre(1, 1, 0.25));
}

}  // namespace
}  // namespace whyformer
