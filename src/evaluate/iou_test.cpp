#include <gtest/gtest.h>

#include <random>

#include "whyformer/evaluate.h"

namespace whyformer {
namespace {

TEST(Iou, ComparesTheCellsAboveTheMeanWithTheRegion) {
  // The mean is 3; cells 2 and 3 are above it, cell 1 is not.
  const std::vector<double> scores{0, 3, 4, 5};
  EXPECT_EQ(localisation("iou", scores, {false, false, true, true}), 1);
  EXPECT_EQ(localisation("iou", scores, {false, true, true, false}), 1.0 / 3);
  EXPECT_EQ(localisation("iou", scores, {true, true, false, false}), 0);
}

TEST(Iou, AConstantMapHasNoSegment) {
  EXPECT_EQ(localisation("iou", std::vector<double>(3, 0.5), {true, true, true}), 0);
  EXPECT_FALSE(localisation("iou", std::vector<double>(3, 0.5), {false, false, false}));
}

TEST(Iou, EveryMapCountsAlikeWhateverItsSize) {
  Localisation metric("iou");
  metric.add(std::vector<double>{0, 1}, {false, true});
  metric.add(std::vector<double>{0, 0, 0, 0, 0, 0, 1, 1}, std::vector<bool>(8, true));
  EXPECT_EQ(metric.value(), (1.0 + 0.25) / 2);
}

TEST(Iou, EqualsTheFormulaInPlainLoops) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 20; ++round) {
    std::vector<double> scores(50);
    std::vector<bool> region(50);
    double mean = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      scores[i] = normal(random);
      region[i] = normal(random) > 0.5;
      mean += scores[i] / 50;
    }
    int both = 0, either = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] > mean && region[i]) ++both;
      if (scores[i] > mean || region[i]) ++either;
    }
    EXPECT_DOUBLE_EQ(*localisation("iou", scores, region), static_cast<double>(both) / either);
  }
}

}  // namespace
}  // namespace whyformer
