#include "evaluate/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "base/random.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Values = std::vector<double>;

Values exponential_values(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> exponential;
  Values values(count);
  for (double& value : values) value = exponential(random);
  return values;
}

TEST(Bootstrap, IntervalContainsTheMean) {
  for (const size_t count : {2, 3, 10, 100}) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const Values values = exponential_values(count, seed);
      const auto interval = mean_interval(values);
      ASSERT_TRUE(interval);
      const double mean =
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(count);
      EXPECT_DOUBLE_EQ(interval->value, mean);
      EXPECT_LT(interval->low, interval->value);
      EXPECT_GT(interval->high, interval->value);
      EXPECT_EQ(interval->examples, static_cast<int64_t>(count));
    }
  }
}

TEST(Bootstrap, TheSameSeedGivesTheSameInterval) {
  const Values values = exponential_values(30, 1);
  const auto first = mean_interval(values, {.seed = 4}), again = mean_interval(values, {.seed = 4});
  const auto other = mean_interval(values, {.seed = 5});
  EXPECT_EQ(first->low, again->low);
  EXPECT_EQ(first->high, again->high);
  EXPECT_NE(first->low, other->low);
  EXPECT_NEAR(first->low, other->low, 0.1 * (first->high - first->low));
}

TEST(Bootstrap, LimitsArePercentilesOfTheResampledMeans) {
  const Values values = exponential_values(15, 2);
  const int64_t resamples = 401;  // 2.5 % and 97.5 % are at positions 10 and 390 of 0 … 400
  Values means;
  for (int64_t resample = 0; resample < resamples; ++resample) {
    const CounterRandom random(9, "bootstrap", resample);
    double sum = 0;
    for (int64_t i = 0; i < 15; ++i)
      sum += values[static_cast<size_t>(std::floor(15 * random.uniform(i)))];
    means.push_back(sum / 15);
  }
  std::sort(means.begin(), means.end());
  const auto interval = mean_interval(values, {.resamples = resamples, .seed = 9});
  EXPECT_NEAR(interval->low, means[10], 1e-12);
  EXPECT_NEAR(interval->high, means[390], 1e-12);
}

TEST(Bootstrap, TwoValuesHaveThemselvesAsLimits) {
  // A quarter of the resamples has twice the lower value, a quarter twice the higher.
  const auto interval = mean_interval(Values{1, 3});
  EXPECT_EQ(interval->value, 2);
  EXPECT_EQ(interval->low, 1);
  EXPECT_EQ(interval->high, 3);
}

TEST(Bootstrap, EqualValuesHaveAnIntervalOfNoWidth) {
  const auto interval = mean_interval(Values(7, 0.1));
  EXPECT_EQ(interval->low, interval->value);
  EXPECT_EQ(interval->high, interval->value);
}

TEST(Bootstrap, ScalesAndShiftsWithTheValues) {
  const Values values = exponential_values(40, 3);
  Values changed = values;
  for (double& x : changed) x = 5 - 2 * x;
  const auto before = mean_interval(values), after = mean_interval(changed);
  EXPECT_NEAR(after->low, 5 - 2 * before->high, 1e-12);
  EXPECT_NEAR(after->high, 5 - 2 * before->low, 1e-12);
}

TEST(Bootstrap, HigherConfidenceGivesAWiderInterval) {
  const Values values = exponential_values(40, 4);
  const auto narrow = mean_interval(values, {.confidence = 0.5});
  const auto wide = mean_interval(values, {.confidence = 0.99});
  EXPECT_LT(wide->low, narrow->low);
  EXPECT_GT(wide->high, narrow->high);
}

TEST(Bootstrap, CoversTheTrueMeanAboutAsOftenAsItSays) {
  // With 60 normal values the percentile interval covers close to 95 %: its standard error lacks
  // the factor √(60/59), and it takes 1.96 where t has 2.001, which together give 94.3 %.
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  constexpr int kRounds = 1000;
  int covered = 0;
  for (int round = 0; round < kRounds; ++round) {
    Values values(60);
    for (double& value : values) value = 3 + normal(random);
    const auto interval = mean_interval(values, {.resamples = 500, .seed = round});
    covered += interval->low <= 3 && 3 <= interval->high;
  }
  // Four standard errors of the binomial.
  const double error = std::sqrt(0.943 * 0.057 / kRounds);
  EXPECT_NEAR(static_cast<double>(covered) / kRounds, 0.943, 4 * error);
}

TEST(Bootstrap, FewerThanTwoExamplesHaveNoInterval) {
  EXPECT_FALSE(mean_interval(Values{}));
  EXPECT_FALSE(mean_interval(Values{0.5}));
}

TEST(Bootstrap, ValuesThatAreNotFiniteHaveNoInterval) {
  EXPECT_FALSE(mean_interval(Values{1, 2, std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_FALSE(mean_interval(Values{1, 2, std::numeric_limits<double>::infinity()}));
}

TEST(Bootstrap, TakesAnyStatisticOfTheExamples) {
  const Values values = exponential_values(25, 6);
  const auto largest = [&](std::span<const int64_t> examples) -> std::optional<double> {
    double result = 0;
    for (const int64_t i : examples) result = std::max(result, values[static_cast<size_t>(i)]);
    return result;
  };
  const auto interval = bootstrap_interval(25, largest);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->value, *std::max_element(values.begin(), values.end()));
  EXPECT_EQ(interval->high, interval->value);  // 1 - (24/25)^25 = 64 % of the resamples have it
  EXPECT_LT(interval->low, interval->value);
}

TEST(Bootstrap, UndefinedResamplesLieOutsideOnBothSides) {
  // The statistic is the number of the call: 0 for all examples, then 1 … 1001 for the resamples.
  const auto interval_with_undefined = [](int undefined) {
    int call = -1;
    return bootstrap_interval(
        5,
        [call, undefined](std::span<const int64_t>) mutable -> std::optional<double> {
          ++call;
          if (call > 0 && call <= undefined) return std::nullopt;
          return call;
        },
        {.resamples = 1001});
  };
  // Positions 25 and 975 of 0 … 1000.
  EXPECT_NEAR(interval_with_undefined(0)->low, 26, 1e-9);
  EXPECT_NEAR(interval_with_undefined(0)->high, 976, 1e-9);
  // The values are 11 … 1001, with ten unknown ones below for the one limit, above for the other.
  EXPECT_NEAR(interval_with_undefined(10)->low, 26, 1e-9);
  EXPECT_NEAR(interval_with_undefined(10)->high, 986, 1e-9);
  EXPECT_FALSE(interval_with_undefined(27));
  EXPECT_FALSE(interval_with_undefined(1001));
}

TEST(Bootstrap, IsUndefinedWhereTheStatisticOfAllExamplesIs) {
  EXPECT_FALSE(bootstrap_interval(
      3, [](std::span<const int64_t>) -> std::optional<double> { return std::nullopt; }));
}

TEST(Bootstrap, RefusesImpossibleOptions) {
  const Values values{1, 2, 3};
  EXPECT_THROW(mean_interval(values, {.resamples = 0}), InvalidInput);
  EXPECT_THROW(mean_interval(values, {.confidence = 1}), InvalidInput);
  EXPECT_THROW(mean_interval(values, {.confidence = 0}), InvalidInput);
}

}  // namespace
}  // namespace whyformer
