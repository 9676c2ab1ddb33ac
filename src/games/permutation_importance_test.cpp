#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/fit_test_games.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

// Minus the mean squared error of a linear model.
TableScore linear_score(std::vector<double> weights, std::vector<double> y) {
  return [weights, y](const std::vector<double>& values, const std::vector<int64_t>& rows) {
    double sum = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      double off = y[rows[i]];
      for (size_t j = 0; j < weights.size(); ++j)
        off -= weights[j] * values[i * weights.size() + j];
      sum += off * off;
    }
    return -sum / static_cast<double>(rows.size());
  };
}

TEST(PermutationImportance, EqualsScikitLearn) {
  for (const nlohmann::json& entry : fit_golden("importance")) {
    const Table table{.rows = entry["rows"], .columns = entry["columns"], .values = entry["x"]};
    const PermutationImportance found = permutation_importance(
        table, linear_score(entry["weights"], entry["y"]),
        {.repeats = entry["repeats"], .seed = entry["seed"], .max_samples = entry["max_samples"]});
    expect_near(found.importances, entry["importances"], 1e-11, "importances");
    expect_near(found.means, entry["means"], 1e-11, "means");
    expect_near(found.deviations, entry["deviations"], 1e-11, "deviations");
  }
}

TEST(PermutationImportance, OfAnUnusedColumnIsExactlyNothing) {
  const Table table{.rows = 31, .columns = 3, .values = random_numbers(93, 1)};
  const PermutationImportance found =
      permutation_importance(table, linear_score({1, 0, 2}, random_numbers(31, 2)), {.repeats = 6});
  for (int repeat = 0; repeat < 6; ++repeat) EXPECT_EQ(found.importances[6 + repeat], 0);
  EXPECT_EQ(found.errors[1], 0);
  EXPECT_NE(found.means[0], 0);
}

// Over all orders, the mean squared error of a least-squares line on its own data grows by 2 slope²
// var(x).
TEST(PermutationImportance, OfALeastSquaresLineIsKnown) {
  const int64_t rows = 40;
  const std::vector<double> x = random_numbers(rows, 4), noise = random_numbers(rows, 5);
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  std::vector<double> y(rows);
  for (int64_t i = 0; i < rows; ++i)
    y[i] = 2 * x[i] + noise[i], mean_x += x[i] / rows, mean_y += y[i] / rows;
  for (int64_t i = 0; i < rows; ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  const double slope = xy / xx;
  for (double& value : y) value -= mean_y - slope * mean_x;
  const PermutationImportance found = permutation_importance(
      {.rows = rows, .columns = 1, .values = x}, linear_score({slope}, y), {.repeats = 4000});
  EXPECT_LT(found.errors[0], 0.02);
  EXPECT_NEAR(found.means[0], 2 * slope * slope * xx / rows, 4 * found.errors[0]);
}

// Columns that cancel each other are worth something apart, nothing together.
TEST(PermutationImportance, ShufflesAGroupTogether) {
  Table table{.rows = 50, .columns = 3, .values = random_numbers(150, 6)};
  for (int64_t row = 0; row < 50; ++row) table.values[row * 3 + 1] = -table.values[row * 3];
  const std::vector<double> y(50, 0.0);
  const PermutationImportance apart = permutation_importance(table, linear_score({1, 1, 0}, y));
  EXPECT_GT(apart.means[0], 0.1);
  const PermutationImportance together =
      permutation_importance(table, linear_score({1, 1, 0}, y), {.groups = {{2}, {1, 0}}});
  ASSERT_EQ(together.means.size(), 2u);
  EXPECT_NEAR(together.means[1], 0, 1e-15);
}

TEST(PermutationImportance, GivesWholeRepeatsWhenTheWatchEndsIt) {
  const Table table{.rows = 20, .columns = 3, .values = random_numbers(60, 1)};
  const TableScore score = linear_score({1, 3, 2}, random_numbers(20, 2));
  const PermutationImportance whole = permutation_importance(table, score, {.repeats = 2});
  const PermutationImportance part = permutation_importance(
      table, score, {.repeats = 5}, [](int64_t done, int64_t of) { return of == 16 && done < 9; });
  EXPECT_FALSE(part.finished);
  EXPECT_EQ(part.repeats, 2);
  EXPECT_EQ(part.evaluations, 9);
  EXPECT_EQ(part.importances, whole.importances);
  EXPECT_THROW(
      permutation_importance(table, score, {}, [](int64_t done, int64_t) { return done < 3; }),
      Interrupted);
}

TEST(PermutationImportance, RefusesTablesAndGroupsThatDoNotFit) {
  const TableScore score = [](const std::vector<double>&, const std::vector<int64_t>&) {
    return 0.0;
  };
  const Table table{.rows = 2, .columns = 2, .values = {1, 2, 3, 4}};
  EXPECT_THROW(permutation_importance({.rows = 2, .columns = 3, .values = {1, 2, 3, 4}}, score),
               InvalidInput);
  EXPECT_THROW(permutation_importance({}, score), InvalidInput);
  EXPECT_THROW(permutation_importance(table, score, {.repeats = 0}), InvalidInput);
  EXPECT_THROW(permutation_importance(table, score, {.max_samples = 3}), InvalidInput);
  EXPECT_THROW(permutation_importance(table, score, {.groups = {{0}, {0}}}), InvalidInput);
  EXPECT_THROW(permutation_importance(table, score, {.groups = {{2}}}), InvalidInput);
  EXPECT_THROW(permutation_importance(table, score, {.groups = {{}}}), InvalidInput);
}

// Two rows can be exchanged or not: equal draws twice are one draw.
TEST(PermutationImportance, OfOneShuffleAgainAndAgainHasNoError) {
  const Table table{.rows = 2, .columns = 1, .values = {1, 3}};
  int unknown = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const double error =
        permutation_importance(table, linear_score({1}, {1, 3}), {.repeats = 2, .seed = seed})
            .errors[0];
    EXPECT_TRUE(std::isnan(error) || error > 0) << seed;
    unknown += std::isnan(error);
  }
  EXPECT_GT(unknown, 0);
}

}  // namespace
}  // namespace whyformer
