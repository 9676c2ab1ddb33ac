#include "studies/concepts/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace whyformer {
namespace {

TEST(IncompleteBeta, HasClosedFormsForSmallWholeNumbers) {
  for (const double x : {0.0, 0.01, 0.3, 0.5, 0.97, 1.0}) {
    EXPECT_NEAR(incomplete_beta(x, 1, 1), x, 1e-14);
    EXPECT_NEAR(incomplete_beta(x, 2, 1), x * x, 1e-14);
    EXPECT_NEAR(incomplete_beta(x, 1, 3), 1 - std::pow(1 - x, 3), 1e-14);
    EXPECT_NEAR(incomplete_beta(x, 0.5, 0.5), 2 / M_PI * std::asin(std::sqrt(x)), 1e-13);
  }
}

TEST(IncompleteBeta, MirrorsItself) {
  for (const double x : {0.05, 0.4, 0.8}) {
    EXPECT_NEAR(incomplete_beta(x, 7.5, 0.5) + incomplete_beta(1 - x, 0.5, 7.5), 1, 1e-13);
  }
}

TEST(TTestOfScores, OfIdenticalSamplesIsOne) {
  const std::vector<double> sample{0.2, 0.4, 0.9};
  const auto test = t_test(sample, sample);
  ASSERT_TRUE(test);
  EXPECT_EQ(test->t, 0);
  EXPECT_EQ(test->p, 1);
}

TEST(TTestOfScores, WithOneDegreeOfFreedomEachIsByHand) {
  // df = 2: p = 1 − t / √(2 + t²).
  const std::vector<double> a{1, 3}, b{4, 8};
  const auto test = t_test(a, b);
  ASSERT_TRUE(test);
  const double t = (2.0 - 6.0) / std::sqrt((2.0 + 8.0) / 2);
  EXPECT_NEAR(test->t, t, 1e-14);
  EXPECT_NEAR(test->p, 1 - std::abs(t) / std::sqrt(2 + t * t), 1e-13);
}

TEST(TTestOfScores, IsUndefinedWhereNothingVaries) {
  const std::vector<double> ones{1, 1, 1}, zeros{0, 0}, lone{0.5};
  EXPECT_FALSE(t_test(ones, zeros));
  EXPECT_FALSE(t_test(ones, ones));
  EXPECT_FALSE(t_test(lone, std::vector<double>{0.1, 0.9}));
}

TEST(CoinTail, AddsUpTheBinomial) {
  EXPECT_EQ(coin_tail(0, 4), 1);
  EXPECT_NEAR(coin_tail(3, 4), 5.0 / 16, 1e-14);
  EXPECT_NEAR(coin_tail(4, 4), 1.0 / 16, 1e-14);
}

TEST(PermutationP, CountsTheObservedAmongTheDrawn) {
  EXPECT_EQ(permutation_p(2, std::vector<double>{1, 2, 3}), 0.75);
  EXPECT_EQ(permutation_p(5, std::vector<double>{1, 2, 3}), 0.25);
  EXPECT_EQ(permutation_p(0, std::vector<double>{1, 2, 3}), 1);
}

TEST(Corrections, StayBetweenTheirBounds) {
  const std::vector<double> p{0.01, 0.04, 0.03, 0.5};
  const std::vector<double> strict = bonferroni(p), stepwise = benjamini_hochberg(p);
  EXPECT_EQ(strict, (std::vector<double>{0.04, 0.16, 0.12, 1}));
  // By hand: 0.5·4/4; 0.04·4/3; min(0.03·4/2, 0.04·4/3); 0.01·4/1.
  const std::vector<double> expected{0.04, 0.16 / 3, 0.16 / 3, 0.5};
  for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(stepwise[i], expected[i], 1e-15);
}

TEST(Deviation, OfEqualNumbersIsExactlyNothing) {
  const std::vector<double> alike(50, 0.73);
  EXPECT_EQ(deviation_of(alike), 0);
  EXPECT_FALSE(t_test(alike, alike));
}

}  // namespace
}  // namespace whyformer
