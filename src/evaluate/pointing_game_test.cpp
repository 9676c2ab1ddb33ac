#include <gtest/gtest.h>

#include "whyformer/evaluate.h"

namespace whyformer {
namespace {

TEST(PointingGame, TheLargestScoreDecidesAlone) {
  const std::vector<double> scores{0.1, 0.9, 0.2, 0.8};
  EXPECT_EQ(localisation("pointing-game", scores, {false, true, false, false}), 1);
  EXPECT_EQ(localisation("pointing-game", scores, {true, false, true, true}), 0);
}

TEST(PointingGame, SignsCountSoTheLargestMagnitudeDoesNotDecide) {
  EXPECT_EQ(localisation("pointing-game", std::vector<double>{-5, 1}, {true, false}), 0);
}

TEST(PointingGame, OfEqualScoresTheFirstDecides) {
  const std::vector<double> scores{0, 3, 3, 3};
  EXPECT_EQ(localisation("pointing-game", scores, {false, true, false, false}), 1);
  EXPECT_EQ(localisation("pointing-game", scores, {false, false, true, true}), 0);
}

TEST(PointingGame, NothingPointsIntoAnEmptyRegion) {
  EXPECT_EQ(localisation("pointing-game", std::vector<double>{1, 2}, {false, false}), 0);
}

TEST(PointingGame, OverManyMapsItIsTheShareOfHits) {
  Localisation metric("pointing-game");
  metric.add(std::vector<double>{1, 2}, {false, true});
  metric.add(std::vector<double>{1, 2}, {true, false});
  metric.add(std::vector<double>{4, 2, 0}, {true, false, false});
  metric.add(std::vector<double>{4}, {true});
  EXPECT_EQ(metric.value(), 0.75);
}

}  // namespace
}  // namespace whyformer
