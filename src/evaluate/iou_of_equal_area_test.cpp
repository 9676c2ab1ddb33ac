#include <gtest/gtest.h>

#include <random>

#include "whyformer/evaluate.h"

namespace whyformer {
namespace {

TEST(IouOfEqualArea, TakesAsManyOfTheLargestScoresAsTheRegionHasCells) {
  const std::vector<double> scores{5, 1, 4, 3, 2};
  EXPECT_EQ(localisation("iou-of-equal-area", scores, {true, false, true, false, false}), 1);
  // Cells 0, 2 and 3 are taken; 2 of them are among the 3 of the region.
  EXPECT_EQ(localisation("iou-of-equal-area", scores, {true, true, true, false, false}), 2.0 / 4);
  EXPECT_EQ(localisation("iou-of-equal-area", scores, {false, true, false, false, false}), 0);
}

TEST(IouOfEqualArea, OfEqualScoresTheFirstAreTaken) {
  const std::vector<double> scores(4, 1.0);
  EXPECT_EQ(localisation("iou-of-equal-area", scores, {true, true, false, false}), 1);
  EXPECT_EQ(localisation("iou-of-equal-area", scores, {false, false, true, true}), 0);
}

TEST(IouOfEqualArea, IsAFunctionOfTheRelevanceRankAccuracy) {
  std::mt19937 random(4);
  std::normal_distribution<double> normal;
  for (int round = 0; round < 20; ++round) {
    std::vector<double> scores(40);
    std::vector<bool> region(40);
    int cells = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      scores[i] = normal(random);
      region[i] = i == 0 || normal(random) > 0.3;
      cells += region[i];
    }
    // A cell is among the largest if fewer than `cells` scores are larger.
    int hits = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
      int larger = 0;
      for (const double other : scores) larger += other > scores[i];
      hits += region[i] && larger < cells;
    }
    const double accuracy = static_cast<double>(hits) / cells;
    EXPECT_DOUBLE_EQ(*localisation("iou-of-equal-area", scores, region), accuracy / (2 - accuracy));
  }
}

}  // namespace
}  // namespace whyformer
