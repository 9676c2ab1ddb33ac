#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "tests/support/fit_test_games.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

// A product of the first two columns plus the third; others are not used.
std::vector<double> model(const std::vector<double>& values, int64_t rows) {
  const size_t columns = values.size() / rows;
  std::vector<double> predictions;
  for (int64_t row = 0; row < rows; ++row) {
    const double* x = values.data() + row * columns;
    predictions.push_back(x[0] * x[1] + x[2]);
  }
  return predictions;
}

struct Example {
  Table table{.rows = 24, .columns = 4, .values = random_numbers(96, 1)};
  Table background{.rows = 7, .columns = 4, .values = random_numbers(28, 2)};
  std::vector<double> y = model(table.values, 24);
  PredictionLoss loss = [this](std::span<const double> prediction, int64_t row) {
    return (prediction[0] - y[row]) * (prediction[0] - y[row]);
  };

  SageValues run(const SageOptions& options, const Watch& watch = {}) const {
    return sage(table, background, model, loss, options, watch);
  }

  // Mean loss over the table when these columns are visible, in plain loops.
  double mean_loss(unsigned visible) const {
    double sum = 0;
    for (int64_t row = 0; row < table.rows; ++row) {
      double prediction = 0;
      for (int64_t b = 0; b < background.rows; ++b) {
        std::vector<double> x(4);
        for (int j = 0; j < 4; ++j)
          x[j] = visible >> j & 1 ? table.values[row * 4 + j] : background.values[b * 4 + j];
        prediction += model(x, 1)[0] / static_cast<double>(background.rows);
      }
      sum += loss(std::span(&prediction, 1), row) / static_cast<double>(table.rows);
    }
    return sum;
  }

  // Over all orders of the columns.
  std::vector<double> exact() const {
    std::vector<int> order{0, 1, 2, 3};
    std::vector<double> values(4);
    do {
      unsigned visible = 0;
      for (const int column : order) {
        const unsigned with = visible | 1u << column;
        values[column] += (mean_loss(visible) - mean_loss(with)) / 24;
        visible = with;
      }
    } while (std::next_permutation(order.begin(), order.end()));
    return values;
  }
};

TEST(Sage, SumsToWhatAllColumnsSave) {
  const Example example;
  const SageValues part = example.run({.precision = 1e-9, .max_draws = 37});
  EXPECT_NEAR(std::accumulate(part.values.begin(), part.values.end(), 0.0), part.total, 1e-12);
  EXPECT_FALSE(part.finished);
  const SageValues whole = example.run({.precision = 1e-9, .max_draws = 48});
  EXPECT_NEAR(std::accumulate(whole.values.begin(), whole.values.end(), 0.0),
              example.mean_loss(0) - example.mean_loss(15), 1e-12);
}

TEST(Sage, TendsToTheShapleyValuesOfTheLoss) {
  const Example example;
  const SageValues found = example.run({.precision = 0.005, .max_draws = 200'000});
  EXPECT_TRUE(found.finished);
  const std::vector<double> exact = example.exact();
  for (int j = 0; j < 4; ++j)
    EXPECT_NEAR(found.values[j], exact[j], 4 * found.errors[j] + 1e-15) << j;
  EXPECT_EQ(found.values[3], 0);
  EXPECT_EQ(found.errors[3], 0);
}

TEST(Sage, StopsAtThePrecision) {
  const Example example;
  const SageValues found = example.run({.precision = 0.1});
  EXPECT_TRUE(found.finished);
  const auto [low, high] = std::minmax_element(found.values.begin(), found.values.end());
  EXPECT_LE(*std::max_element(found.errors.begin(), found.errors.end()), 0.1 * (*high - *low));
  EXPECT_LT(found.draws, 2048);
}

TEST(Sage, HidesGroupsTogether) {
  const Example example;
  const SageValues found =
      example.run({.precision = 0.02, .max_draws = 50'000, .groups = {{0, 1}, {2}}});
  // Two groups: the mean of both orders. Column 3 is never seen, and never used.
  const double nothing = example.mean_loss(0), pair = example.mean_loss(3),
               third = example.mean_loss(4), all = example.mean_loss(7);
  ASSERT_EQ(found.values.size(), 2u);
  EXPECT_NEAR(found.values[0], (nothing - pair + third - all) / 2, 4 * found.errors[0]);
  EXPECT_NEAR(found.values[1], (nothing - third + pair - all) / 2, 4 * found.errors[1]);
}

TEST(Sage, DoesNotDependOnTheBatches) {
  const Example example;
  const SageValues reference = example.run({.precision = 1e-9, .max_draws = 100});
  for (const int64_t most : {1, 5, 100000}) {
    EXPECT_EQ(example.run({.precision = 1e-9, .max_draws = 100, .max_rows_at_once = most}).values,
              reference.values);
  }
}

TEST(Sage, GivesWholeDrawsWhenTheWatchEndsIt) {
  const Example example;
  const SageValues reference = example.run({.precision = 1e-9, .max_draws = 3});
  // 7 rows of the background, then 3 · 7 + 1 in each draw.
  const SageValues part = example.run({.precision = 1e-9, .max_rows_at_once = 10},
                                      [](int64_t rows, int64_t) { return rows < 7 + 3 * 22 + 1; });
  EXPECT_FALSE(part.finished);
  EXPECT_EQ(part.draws, 3);
  EXPECT_EQ(part.values, reference.values);
  EXPECT_THROW(example.run({}, [](int64_t, int64_t) { return false; }), Interrupted);
}

TEST(Sage, RefusesWhatDoesNotFit) {
  const Example example;
  EXPECT_THROW(
      sage(example.table, {.rows = 1, .columns = 2, .values = {1, 2}}, model, example.loss),
      InvalidInput);
  EXPECT_THROW(example.run({.precision = 0}), InvalidInput);
  EXPECT_THROW(example.run({.max_rows_at_once = 0}), InvalidInput);
  EXPECT_THROW(example.run({.groups = {{9}}}), InvalidInput);
}

}  // namespace
}  // namespace whyformer
