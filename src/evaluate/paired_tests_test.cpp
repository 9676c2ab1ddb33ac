#include "evaluate/paired_tests.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "evaluate/ranks.h"
#include "tests/support/golden_agreement.h"
#include "tests/support/uniformity.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Values = std::vector<double>;

TEST(Wilcoxon, EqualsSciPy) {
  for (const nlohmann::json& sample : golden_agreement()["paired"]) {
    const auto test = wilcoxon(sample["a"].get<Values>(), sample["b"].get<Values>());
    ASSERT_TRUE(test) << sample["name"];
    EXPECT_NEAR(test->statistic, sample["statistic"].get<double>(), 1e-12) << sample["name"];
    const auto p = sample["p_value"].get<double>();
    EXPECT_NEAR(test->p_value, p, 1e-10 * p) << sample["name"];
  }
}

TEST(Wilcoxon, ExactPValueCountsSigns) {
  // Ties among them; one pair does not differ.
  const Values differences{0.5, -0.25, 1, 1, -2, 0, 3, 0.5, -0.5}, zeros(9, 0.0);
  Values magnitudes;
  double observed = 0;
  for (const double x : differences) {
    if (x != 0) magnitudes.push_back(std::abs(x));
  }
  const Values ranks = average_ranks(magnitudes);
  const int signs[] = {1, 0, 1, 1, 0, 1, 1, 0};
  for (size_t i = 0; i < ranks.size(); ++i) observed += signs[i] * ranks[i];
  int at_most = 0, at_least = 0;
  for (int choice = 0; choice < 256; ++choice) {
    double sum = 0;
    for (size_t i = 0; i < ranks.size(); ++i) sum += (choice >> i & 1) * ranks[i];
    at_most += sum <= observed;
    at_least += sum >= observed;
  }
  const auto test = wilcoxon(differences, zeros);
  ASSERT_TRUE(test);
  EXPECT_EQ(test->p_value, 2.0 * std::min(at_most, at_least) / 256);
  EXPECT_EQ(test->statistic, std::min(observed, 36 - observed));
  EXPECT_EQ(test->pairs, 8);
}

TEST(Wilcoxon, IsSymmetricInItsSides) {
  std::mt19937 random(1);
  for (const size_t count : {6, 20, 80}) {
    Values a(count), b(count);
    for (double& x : a) x = static_cast<double>(random() % 9);
    for (double& x : b) x = static_cast<double>(random() % 9);
    EXPECT_EQ(wilcoxon(a, b)->p_value, wilcoxon(b, a)->p_value);
    EXPECT_EQ(wilcoxon(a, b)->statistic, wilcoxon(b, a)->statistic);
  }
}

TEST(Wilcoxon, PValuesOfEqualMethodsAreUniform) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  Values p_values;
  for (int round = 0; round < 400; ++round) {
    Values a(120), b(120);
    for (double& x : a) x = normal(random);
    for (double& x : b) x = normal(random);
    p_values.push_back(wilcoxon(a, b)->p_value);
  }
  EXPECT_GT(uniformity(p_values).p_value, 0.001);
  for (double& p : p_values) p *= p;
  EXPECT_LT(uniformity(p_values).p_value, 1e-6);
}

TEST(Wilcoxon, IsUndefinedWhereNothingDiffers) {
  EXPECT_FALSE(wilcoxon(Values{1, 2, 3}, Values{1, 2, 3}));
  EXPECT_FALSE(wilcoxon(Values{}, Values{}));
  EXPECT_FALSE(wilcoxon(Values{1, std::numeric_limits<double>::quiet_NaN()}, Values{2, 3}));
  EXPECT_THROW(wilcoxon(Values{1, 2}, Values{1}), InvalidInput);
}

TEST(Holm, EqualsNumbersByHand) {
  // Sorted 0.01 0.02 0.03 0.04 times 4 3 2 1 is 0.04 0.06 0.06 0.04; the last may not fall.
  const Values adjusted = holm(Values{0.04, 0.01, 0.03, 0.02});
  const Values expected{0.06, 0.04, 0.06, 0.06};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-15);
  EXPECT_EQ(holm(Values{0.6, 0.5}), (Values{1, 1}));
  EXPECT_EQ(holm(Values{0.25}), Values{0.25});
  EXPECT_EQ(holm(Values{0, 1, 0.25}), (Values{0, 1, 0.5}));
  EXPECT_TRUE(holm(Values{}).empty());
}

TEST(Holm, TiesGetOneValue) {
  const Values adjusted = holm(Values{0.125, 0.5, 0.125});
  EXPECT_EQ(adjusted, (Values{0.375, 0.5, 0.375}));
}

TEST(Holm, RefusesWhatIsNoPValue) {
  EXPECT_THROW(holm(Values{0.5, 1.5}), InvalidInput);
  EXPECT_THROW(holm(Values{-0.1}), InvalidInput);
  EXPECT_THROW(holm(Values{std::numeric_limits<double>::quiet_NaN()}), InvalidInput);
}

}  // namespace
}  // namespace whyformer
