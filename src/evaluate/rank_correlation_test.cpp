#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "evaluate/ranks.h"
#include "tests/support/golden_agreement.h"
#include "whyformer/agreement.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Values = std::vector<double>;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfiniteValue = std::numeric_limits<double>::infinity();

Values random_values(size_t count, uint32_t seed, int levels = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Values values(count);
  for (double& value : values) {
    value =
        levels > 0 ? static_cast<double>(random() % static_cast<unsigned>(levels)) : normal(random);
  }
  return values;
}

Values transformed(Values values, double (*change)(double)) {
  std::transform(values.begin(), values.end(), values.begin(), change);
  return values;
}

double negative(double x) { return -x; }
double growing(double x) { return std::exp(x) + x * x * x; }

double plain_pearson(const Values& a, const Values& b) {
  const auto n = static_cast<double>(a.size());
  double mean_a = 0, mean_b = 0, ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) mean_a += a[i] / n, mean_b += b[i] / n;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return ab / std::sqrt(aa * bb);
}

double plain_tau_b(const Values& a, const Values& b) {
  double sum = 0, untied_a = 0, untied_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const int of_a = (a[i] > a[j]) - (a[i] < a[j]), of_b = (b[i] > b[j]) - (b[i] < b[j]);
      sum += of_a * of_b;
      untied_a += of_a != 0;
      untied_b += of_b != 0;
    }
  }
  return sum / std::sqrt(untied_a * untied_b);
}

// `relative` of the p-value; the last digit of a correlation near 1 changes many of its p-value.
void expect_as_scipy(const std::optional<Correlation>& ours, const nlohmann::json& expected,
                     double relative, const std::string& name) {
  SCOPED_TRACE(name);
  ASSERT_EQ(ours.has_value(), !expected["value"].is_null());
  if (!ours) return;
  EXPECT_NEAR(ours->value, expected["value"].get<double>(), 1e-12);
  ASSERT_EQ(ours->p_value.has_value(), !expected["p_value"].is_null());
  if (!ours->p_value) return;
  const auto p = expected["p_value"].get<double>();
  EXPECT_NEAR(*ours->p_value, p, 1e-10);
  // SciPy rounds some perfect correlations to 1 - 1e-16, and has a p-value for that.
  if (std::abs(ours->value) < 1) {
    EXPECT_NEAR(*ours->p_value, p, relative * p);
  }
}

TEST(RankCorrelation, EqualsSciPy) {
  for (const nlohmann::json& sample : golden_agreement()["correlations"]) {
    const auto a = sample["a"].get<Values>(), b = sample["b"].get<Values>();
    const auto name = sample["name"].get<std::string>();
    const std::optional<double> linear = pearson(a, b);
    ASSERT_EQ(linear.has_value(), !sample["pearson"].is_null()) << name;
    if (linear) {
      EXPECT_NEAR(*linear, sample["pearson"].get<double>(), 1e-12) << name;
    }
    expect_as_scipy(spearman(a, b), sample["spearman"], 1e-8, name + ", Spearman");
    expect_as_scipy(kendall_tau_b(a, b), sample["kendall"], 1e-10, name + ", Kendall");
  }
}

TEST(RankCorrelation, EqualsItsDefinitionInPlainLoops) {
  for (const int levels : {0, 2, 4, 50}) {
    for (const size_t count : {10, 37, 150}) {
      const Values a = random_values(count, 1, levels), b = random_values(count, 2, levels);
      EXPECT_NEAR(*pearson(a, b), plain_pearson(a, b), 1e-13);
      EXPECT_NEAR(spearman(a, b)->value, plain_pearson(average_ranks(a), average_ranks(b)), 1e-13);
      EXPECT_NEAR(kendall_tau_b(a, b)->value, plain_tau_b(a, b), 1e-13);
    }
  }
}

TEST(RankCorrelation, MonotoneTransformsChangeNothing) {
  for (const int levels : {0, 4}) {
    const Values a = random_values(60, 3, levels), b = random_values(60, 4, levels);
    const Values grown_a = transformed(a, growing), grown_b = transformed(b, growing);
    EXPECT_EQ(spearman(a, b)->value, spearman(grown_a, grown_b)->value);
    EXPECT_EQ(spearman(a, b)->p_value, spearman(grown_a, grown_b)->p_value);
    EXPECT_EQ(kendall_tau_b(a, b)->value, kendall_tau_b(grown_a, grown_b)->value);
    EXPECT_EQ(kendall_tau_b(a, b)->p_value, kendall_tau_b(grown_a, grown_b)->p_value);
  }
}

TEST(RankCorrelation, IsExactlyOneWithItselfAndMinusOneReversed) {
  for (const int levels : {0, 3}) {
    for (const size_t count : {3, 7, 100, 1001}) {
      Values a = random_values(count, 5, levels);
      a[0] = 100;  // never constant
      const Values reversed = transformed(a, negative);
      EXPECT_EQ(*pearson(a, a), 1);
      EXPECT_EQ(spearman(a, a)->value, 1);
      EXPECT_EQ(spearman(a, a)->p_value, 0);
      EXPECT_EQ(kendall_tau_b(a, a)->value, 1);
      EXPECT_EQ(*pearson(a, reversed), -1);
      EXPECT_EQ(spearman(a, reversed)->value, -1);
      EXPECT_EQ(kendall_tau_b(a, reversed)->value, -1);
    }
  }
}

TEST(RankCorrelation, ReversingOneSideChangesTheSignOnly) {
  for (const int levels : {0, 5}) {
    const Values a = random_values(41, 6, levels), b = random_values(41, 7, levels);
    const Values reversed = transformed(b, negative);
    EXPECT_NEAR(spearman(a, b)->value, -spearman(a, reversed)->value, 1e-15);
    EXPECT_EQ(kendall_tau_b(a, b)->value, -kendall_tau_b(a, reversed)->value);
    EXPECT_EQ(kendall_tau_b(a, b)->p_value, kendall_tau_b(a, reversed)->p_value);
  }
}

TEST(RankCorrelation, IsSymmetric) {
  for (const int levels : {0, 6}) {
    const Values a = random_values(30, 8, levels), b = random_values(30, 9, levels);
    EXPECT_EQ(*pearson(a, b), *pearson(b, a));
    EXPECT_EQ(spearman(a, b)->value, spearman(b, a)->value);
    EXPECT_EQ(kendall_tau_b(a, b)->value, kendall_tau_b(b, a)->value);
    EXPECT_EQ(kendall_tau_b(a, b)->p_value, kendall_tau_b(b, a)->p_value);
  }
}

TEST(RankCorrelation, OrderOfTheUnitsChangesNothing) {
  const Values a = random_values(50, 10, 7), b = random_values(50, 11, 7);
  std::vector<size_t> order(a.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(12));
  Values shuffled_a, shuffled_b;
  for (const size_t i : order) {
    shuffled_a.push_back(a[i]);
    shuffled_b.push_back(b[i]);
  }
  EXPECT_NEAR(*pearson(a, b), *pearson(shuffled_a, shuffled_b), 1e-15);
  EXPECT_EQ(spearman(a, b)->value, spearman(shuffled_a, shuffled_b)->value);
  EXPECT_EQ(kendall_tau_b(a, b)->value, kendall_tau_b(shuffled_a, shuffled_b)->value);
  EXPECT_EQ(kendall_tau_b(a, b)->p_value, kendall_tau_b(shuffled_a, shuffled_b)->p_value);
}

TEST(RankCorrelation, ExactPValueOfKendallCountsPermutations) {
  const Values a{1, 2, 3, 4, 5, 6};
  Values b = a;
  std::vector<double> taus;
  do taus.push_back(plain_tau_b(a, b));
  while (std::next_permutation(b.begin(), b.end()));
  for (const Values& sample :
       {Values{2, 1, 4, 3, 6, 5}, Values{1, 2, 3, 4, 6, 5}, Values{6, 4, 5, 3, 1, 2}}) {
    const double observed = std::abs(plain_tau_b(a, sample));
    const auto far = std::count_if(taus.begin(), taus.end(),
                                   [&](double tau) { return std::abs(tau) > observed - 1e-9; });
    EXPECT_NEAR(*kendall_tau_b(a, sample)->p_value,
                static_cast<double>(far) / static_cast<double>(taus.size()), 1e-14);
  }
}

TEST(RankCorrelation, IsUndefinedWhereNothingVaries) {
  const Values constant(4, 0.1), varying{1, 2, 3, 4}, none, one{1};
  for (const auto& [a, b] : {std::pair{constant, varying}, std::pair{varying, constant},
                             std::pair{none, none}, std::pair{one, one}}) {
    EXPECT_FALSE(pearson(a, b));
    EXPECT_FALSE(spearman(a, b));
    EXPECT_FALSE(kendall_tau_b(a, b));
  }
}

TEST(RankCorrelation, IsUndefinedWithScoresThatAreNotNumbers) {
  const Values gap{1, kNaN, 3}, varying{3, 1, 2};
  for (const auto& [a, b] : {std::pair{gap, varying}, std::pair{varying, gap}}) {
    EXPECT_FALSE(pearson(a, b));
    EXPECT_FALSE(spearman(a, b));
    EXPECT_FALSE(kendall_tau_b(a, b));
  }
}

TEST(RankCorrelation, InfiniteScoresHaveRanksButNoMean) {
  const Values a{1, kInfiniteValue, 3, -kInfiniteValue}, same_order{2, 4, 3, 1}, b{1, 4, 2, 3};
  EXPECT_FALSE(pearson(a, b));
  EXPECT_EQ(spearman(a, b)->value, spearman(same_order, b)->value);
  EXPECT_EQ(kendall_tau_b(a, b)->value, kendall_tau_b(same_order, b)->value);
}

TEST(RankCorrelation, TwoUnitsHaveASpearmanValueButNoTest) {
  const auto correlation = spearman(Values{1, 2}, Values{5, 3});
  ASSERT_TRUE(correlation);
  EXPECT_EQ(correlation->value, -1);
  EXPECT_FALSE(correlation->p_value);
}

TEST(RankCorrelation, RefusesSidesOfDifferentLength) {
  const Values two{1, 2}, three{1, 2, 3};
  EXPECT_THROW(pearson(two, three), InvalidInput);
  EXPECT_THROW(spearman(two, three), InvalidInput);
  EXPECT_THROW(kendall_tau_b(two, three), InvalidInput);
}

TEST(Pearson, HasNoOverflowAndIgnoresScaleAndShift) {
  const Values a = random_values(25, 13), b = random_values(25, 14);
  const double expected = *pearson(a, b);
  for (const double scale : {1e-310, 1e-200, 1e-3, 1e200, 1e307}) {
    Values scaled = a;
    for (double& x : scaled) x *= scale;
    // Numbers below 1e-308 have fewer digits.
    EXPECT_NEAR(*pearson(scaled, b), expected, scale < 1e-300 ? 1e-10 : 1e-14) << scale;
  }
  const Values large{1.5e308, 1.6e308, 1.7e308, 1.2e308}, small{1.5, 1.6, 1.7, 1.2},
      other{2, 1, 4, 3};
  EXPECT_NEAR(*pearson(large, other), *pearson(small, other), 1e-14);
  Values shifted = a;
  for (double& x : shifted) x = 3 * x + 7;
  EXPECT_NEAR(*pearson(shifted, b), expected, 1e-14);
}

}  // namespace
}  // namespace whyformer
