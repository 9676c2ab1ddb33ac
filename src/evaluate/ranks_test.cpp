#include "evaluate/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfiniteScore = std::numeric_limits<double>::infinity();

TEST(AverageRanks, TiesShareTheirMeanRank) {
  EXPECT_THAT(average_ranks(std::vector<double>{0.3, 0.1, 0.3, 0.2}), ElementsAre(3.5, 1, 3.5, 2));
  EXPECT_THAT(average_ranks(std::vector<double>{7, 7, 7}), ElementsAre(2, 2, 2));
  EXPECT_THAT(average_ranks(std::vector<double>{0.0, -0.0, -1}), ElementsAre(2.5, 2.5, 1));
  EXPECT_THAT(average_ranks(std::vector<double>{kInfiniteScore, 2, -kInfiniteScore}),
              ElementsAre(3, 2, 1));
  EXPECT_THAT(average_ranks(std::vector<double>{}), IsEmpty());
}

TEST(AverageRanks, CountTheScoresBelowAndHalfTheEqualOnes) {
  std::mt19937 random(1);
  for (const int values : {3, 20, 1000}) {
    std::vector<double> scores(60);
    for (double& score : scores)
      score = static_cast<double>(random() % static_cast<unsigned>(values));
    const std::vector<double> ranks = average_ranks(scores);
    for (size_t i = 0; i < scores.size(); ++i) {
      double expected = 0.5;
      for (const double other : scores) {
        expected += other < scores[i] ? 1 : other == scores[i] ? 0.5 : 0;
      }
      EXPECT_EQ(ranks[i], expected);
    }
  }
}

TEST(AverageRanks, AScoreThatIsNotANumberHasNoRank) {
  EXPECT_THROW(average_ranks(std::vector<double>{1, kNaN}), InvalidInput);
}

TEST(DescendingOrder, TiesStayInOrderAndScoresThatAreNoNumbersComeLast) {
  EXPECT_THAT(descending_order(std::vector<double>{1, kNaN, 3, 1, kNaN, 3, -kInfiniteScore}),
              ElementsAre(2, 5, 0, 3, 6, 1, 4));
  EXPECT_THAT(descending_order(std::vector<double>{0.0, -0.0, kNaN, 0.0}), ElementsAre(0, 1, 3, 2));
  EXPECT_THAT(descending_order(std::vector<double>{}), IsEmpty());
}

TEST(DescendingOrder, OfManyTiesIsStable) {
  const std::vector<int64_t> order = descending_order(std::vector<double>(500, 0.25));
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], static_cast<int64_t>(i));
}

}  // namespace
}  // namespace whyformer
