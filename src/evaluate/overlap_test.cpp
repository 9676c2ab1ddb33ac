#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include "evaluate/ranks.h"
#include "whyformer/agreement.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Values = std::vector<double>;
using Items = std::vector<int64_t>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Values normal_values(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Values values(count);
  for (double& value : values) value = normal(random);
  return values;
}

TEST(TopKOverlap, IsTheShareOfUnitsInBoth) {
  const Values a{5, 4, 3, 2, 1}, b{5, 1, 4, 3, 2};  // 0 1 2 3 4 and 0 2 3 4 1
  EXPECT_EQ(top_k_overlap(a, b, 1), 1);
  EXPECT_EQ(top_k_overlap(a, b, 2), 0.5);
  EXPECT_EQ(top_k_overlap(a, b, 3), 2.0 / 3);
  EXPECT_EQ(top_k_overlap(a, b, 5), 1);
}

// The mean over all orders in which the ties of `a` can be broken; `b` has none.
template <class Overlap>
double mean_over_orders(const Values& a, const Overlap& of_ranking) {
  Items order(a.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  double sum = 0, count = 0;
  do {
    const bool follows_scores =
        std::ranges::is_sorted(order, [&](int64_t i, int64_t j) { return a[i] > a[j]; });
    if (!follows_scores) continue;
    sum += of_ranking(order);
    ++count;
  } while (std::next_permutation(order.begin(), order.end()));
  return sum / count;
}

TEST(Overlap, OfTiedScoresIsTheMeanOverAllOrdersOfTheTies) {
  const Values b{0.3, 0.9, -1, 2, 0.5, 7};
  const Items order_b = descending_order(b);
  for (const Values& a : {Values{0, 0, 0, 0, 0, 0}, Values{1, 0, 0, 2, 0, 1},
                          Values{3, 3, 3, 1, 1, 2}, Values{0, 0, 5, 0, 0, 0}}) {
    for (int64_t k = 1; k <= 6; ++k) {
      const auto common = [&](const Items& order) {
        double found = 0;
        for (int64_t i = 0; i < k; ++i) {
          found += std::find(order_b.begin(), order_b.begin() + k, order[i]) != order_b.begin() + k;
        }
        return found / static_cast<double>(k);
      };
      EXPECT_NEAR(top_k_overlap(a, b, k), mean_over_orders(a, common), 1e-14);
      EXPECT_NEAR(top_k_overlap(b, a, k), mean_over_orders(a, common), 1e-14);
      const auto biased = [&](const Items& order) {
        return rank_biased_overlap_of_lists(Items(order.begin(), order.begin() + k),
                                            Items(order_b.begin(), order_b.begin() + k), 0.9);
      };
      EXPECT_NEAR(rank_biased_overlap(a, b, 0.9, k), mean_over_orders(a, biased), 1e-14);
    }
  }
}

TEST(Overlap, OfScoresThatAreAllAlikeIsChanceAndOneWithEachOther) {
  const Values alike(10, 0.25), b = normal_values(10, 8);
  for (const int64_t k : {1, 2, 5, 10}) {
    EXPECT_NEAR(top_k_overlap(alike, b, k), static_cast<double>(k) / 10, 1e-15);
    EXPECT_NEAR(top_k_overlap(alike, alike, k), 1, 1e-15);
  }
  EXPECT_NEAR(rank_biased_overlap(alike, alike, 0.9), 1, 1e-15);
}

// Listing the units in another order changes nothing, with ties on both sides.
TEST(Overlap, OfTiedScoresDoesNotDependOnTheOrderOfTheUnits) {
  const Values a{1, 0, 0, -2, 0, -1, 3, 0}, b{0, 0, 1, 1, -1, 0, 3, 0};
  Values moved_a, moved_b;
  for (size_t i = 0; i < a.size(); ++i) {
    moved_a.push_back(a[i * 5 % 8]);
    moved_b.push_back(b[i * 5 % 8]);
  }
  for (int64_t k = 1; k <= 8; ++k) {
    EXPECT_NEAR(top_k_overlap(a, b, k), top_k_overlap(moved_a, moved_b, k), 1e-15);
    EXPECT_NEAR(signed_top_k_overlap(a, b, k), signed_top_k_overlap(moved_a, moved_b, k), 1e-15);
  }
  EXPECT_NEAR(rank_biased_overlap(a, b, 0.9), rank_biased_overlap(moved_a, moved_b, 0.9), 1e-15);
  EXPECT_NEAR(top_k_overlap(a, a, 3), 1, 1e-15);
}

TEST(TopKOverlap, IsSymmetricAndInvariantToMonotoneTransforms) {
  const Values a = normal_values(40, 1), b = normal_values(40, 2);
  Values grown = a;
  for (double& x : grown) x = std::exp(x);
  for (const int64_t k : {1, 3, 10, 40}) {
    EXPECT_EQ(top_k_overlap(a, b, k), top_k_overlap(b, a, k));
    EXPECT_EQ(top_k_overlap(a, b, k), top_k_overlap(grown, b, k));
    EXPECT_EQ(top_k_overlap(a, a, k), 1);
    EXPECT_EQ(signed_top_k_overlap(a, b, k), signed_top_k_overlap(b, a, k));
  }
}

TEST(TopKOverlap, NeedsKScoresOnBothSides) {
  const Values full{3, 2, 1}, gap{3, kNaN, 1};
  EXPECT_EQ(top_k_overlap(full, gap, 2), 0.5);  // units 0 1 and 0 2
  EXPECT_THROW(top_k_overlap(full, gap, 3), InvalidInput);
  EXPECT_THROW(top_k_overlap(gap, full, 3), InvalidInput);
  EXPECT_THROW(signed_top_k_overlap(full, full, 4), InvalidInput);
  EXPECT_THROW(top_k_overlap(Values{}, Values{}, 1), InvalidInput);
  EXPECT_THROW(top_k_overlap(full, Values{1, 2}, 1), InvalidInput);
}

TEST(SignedTopKOverlap, CountsTheLargestMagnitudesWithOneSign) {
  const Values a{-9, 8, -7, 1, 0}, b{8, 9, -7, 0, 1};  // magnitudes 0 1 2 3 4 and 1 0 2 4 3
  EXPECT_EQ(signed_top_k_overlap(a, b, 1), 0);
  EXPECT_EQ(signed_top_k_overlap(a, b, 2), 0.5);
  EXPECT_EQ(signed_top_k_overlap(a, b, 3), 2.0 / 3);
}

TEST(SignedTopKOverlap, OfAllUnitsIsTheSignAgreement) {
  const Values a = normal_values(31, 3), b = normal_values(31, 4);
  EXPECT_EQ(signed_top_k_overlap(a, b, 31), sign_agreement(a, b));
  EXPECT_GT(sign_agreement(a, b), 0);
  EXPECT_LT(sign_agreement(a, b), 1);
}

TEST(SignAgreement, ZeroAgreesWithZeroOnly) {
  EXPECT_EQ(sign_agreement(Values{1, -2, 0, 0, 3}, Values{5, -1, 0, 2, -3}), 3.0 / 5);
  EXPECT_EQ(sign_agreement(Values{0.0, -0.0}, Values{-0.0, 1}), 0.5);
  EXPECT_THROW(sign_agreement(Values{}, Values{}), InvalidInput);
  EXPECT_THROW(sign_agreement(Values{1, kNaN}, Values{1, 2}), InvalidInput);
  EXPECT_THROW(sign_agreement(Values{1}, Values{1, 2}), InvalidInput);
}

double plain_rbo(const Items& a, const Items& b, double p) {
  const auto agreement = [&](size_t depth) {
    double common = 0;
    for (size_t i = 0; i < depth; ++i) {
      for (size_t j = 0; j < depth; ++j) common += a[i] == b[j];
    }
    return common / static_cast<double>(depth);
  };
  double sum = 0;
  for (size_t d = 1; d <= a.size(); ++d) sum += agreement(d) * std::pow(p, static_cast<double>(d));
  return agreement(a.size()) * std::pow(p, static_cast<double>(a.size())) + (1 - p) / p * sum;
}

TEST(RankBiasedOverlap, EqualsItsDefinitionInPlainLoops) {
  std::mt19937 random(5);
  for (const int64_t items : {12, 30}) {
    Items a(static_cast<size_t>(items));
    std::iota(a.begin(), a.end(), int64_t{100});
    for (int round = 0; round < 10; ++round) {
      Items b = a;
      std::shuffle(b.begin(), b.end(), random);
      for (const size_t length : {size_t{1}, size_t{4}, size_t{10}, a.size()}) {
        const Items top_a(a.begin(), a.begin() + static_cast<int64_t>(length));
        const Items top_b(b.begin(), b.begin() + static_cast<int64_t>(length));
        for (const double p : {0.1, 0.9, 0.98}) {
          EXPECT_NEAR(rank_biased_overlap_of_lists(top_a, top_b, p), plain_rbo(top_a, top_b, p),
                      1e-13);
          EXPECT_EQ(rank_biased_overlap_of_lists(top_a, top_b, p),
                    rank_biased_overlap_of_lists(top_b, top_a, p));
        }
      }
    }
  }
}

TEST(RankBiasedOverlap, IsOneForIdenticalAndZeroForDisjointLists) {
  for (const size_t length : {1, 2, 17, 300}) {
    Items a(length), b(length);
    std::iota(a.begin(), a.end(), int64_t{0});
    std::iota(b.begin(), b.end(), static_cast<int64_t>(length));
    for (const double p : {0.05, 0.5, 0.9, 0.98, 0.999}) {
      EXPECT_EQ(rank_biased_overlap_of_lists(a, a, p), 1);
      EXPECT_EQ(rank_biased_overlap_of_lists(a, b, p), 0);
    }
  }
}

TEST(RankBiasedOverlap, OfScoresRanksThemDownToTheDepth) {
  const Values a = normal_values(20, 6), b = normal_values(20, 7);
  const Items order_a = descending_order(a), order_b = descending_order(b);
  EXPECT_EQ(rank_biased_overlap(a, b, 0.9), rank_biased_overlap_of_lists(order_a, order_b, 0.9));
  EXPECT_NEAR(rank_biased_overlap(a, b, 0.9, 5),
              plain_rbo({order_a.begin(), order_a.begin() + 5},
                        {order_b.begin(), order_b.begin() + 5}, 0.9),
              1e-13);
  Values reversed = a;
  for (double& x : reversed) x = -x;
  EXPECT_EQ(rank_biased_overlap(a, a, 0.9), 1);
  EXPECT_EQ(rank_biased_overlap(a, reversed, 0.9, 10), 0);
}

TEST(RankBiasedOverlap, WeighsTheTopMore) {
  const Items a{1, 2, 3, 4, 5, 6};
  EXPECT_GT(rank_biased_overlap_of_lists(a, Items{1, 2, 3, 4, 6, 5}, 0.9),
            rank_biased_overlap_of_lists(a, Items{2, 1, 3, 4, 5, 6}, 0.9));
}

TEST(RankBiasedOverlap, RefusesWhatIsNoRanking) {
  const Items a{1, 2, 3};
  EXPECT_THROW(rank_biased_overlap_of_lists(a, Items{1, 2}, 0.9), InvalidInput);
  EXPECT_THROW(rank_biased_overlap_of_lists(a, Items{1, 2, 2}, 0.9), InvalidInput);
  EXPECT_THROW(rank_biased_overlap_of_lists(Items{}, Items{}, 0.9), InvalidInput);
  for (const double p : {0.0, 1.0, -0.5, kNaN}) {
    EXPECT_THROW(rank_biased_overlap_of_lists(a, a, p), InvalidInput);
  }
  EXPECT_THROW(rank_biased_overlap(Values{1, kNaN}, Values{1, 2}, 0.9), InvalidInput);
  EXPECT_THROW(rank_biased_overlap(Values{}, Values{}, 0.9), InvalidInput);
}

}  // namespace
}  // namespace whyformer
