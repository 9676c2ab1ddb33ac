#include <gtest/gtest.h>

#include "whyformer/evaluate.h"

namespace whyformer {
namespace {

TEST(RelevanceMass, IsTheShareOfThePositiveSumInTheRegion) {
  const std::vector<double> scores{1, 3, 4, 8};
  EXPECT_EQ(localisation("relevance-mass", scores, {false, true, false, true}), 11.0 / 16);
  EXPECT_EQ(localisation("relevance-mass", scores, {true, true, true, true}), 1);
}

TEST(RelevanceMass, NegativeScoresCountNeitherInsideNorOutside) {
  EXPECT_EQ(
      localisation("relevance-mass", std::vector<double>{-7, 1, 3, -2}, {true, true, false, false}),
      0.25);
}

TEST(RelevanceMass, AMapWithoutPositiveScoresHasNoShares) {
  EXPECT_FALSE(localisation("relevance-mass", std::vector<double>{-1, 0}, {true, true}));
}

TEST(RelevanceMass, RegionAndBackgroundAddUpToOne) {
  const std::vector<double> scores{0.2, -0.4, 0.7, 0.1};
  const std::vector<bool> region{true, false, false, true};
  std::vector<bool> background = region;
  background.flip();
  EXPECT_DOUBLE_EQ(*localisation("relevance-mass", scores, region) +
                       *localisation("relevance-mass", scores, background),
                   1);
}

}  // namespace
}  // namespace whyformer
