#include "studies/learned/ridge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

struct RidgeCase {
  int64_t rows, width;
  std::vector<double> x, y;  // y: two outputs
};

RidgeCase ridge_case(int64_t rows, int64_t width) {
  const CounterRandom random(11, "ridge", rows);
  RidgeCase one{rows, width, std::vector<double>(rows * width), std::vector<double>(2 * rows)};
  for (int64_t i = 0; i < rows * width; ++i) one.x[i] = 3 + random.normal(i);
  for (int64_t row = 0; row < rows; ++row) {
    one.y[row] = one.x[row * width] - 2 * one.x[row * width + 1] + random.normal(10000 + row);
    one.y[rows + row] = random.normal(20000 + row);
  }
  return one;
}

// Solves the normal equations of [weights, intercept] by elimination, the intercept unpenalised,
// leaving one row out (-1: none).
std::vector<double> plain_ridge(const RidgeCase& one, const double* y, double penalty,
                                int64_t without) {
  const int64_t size = one.width + 1;
  std::vector<std::vector<double>> a(size, std::vector<double>(size + 1, 0));
  for (int64_t i = 0; i < one.width; ++i) a[i][i] = penalty;
  for (int64_t row = 0; row < one.rows; ++row) {
    if (row == without) continue;
    const auto number = [&](int64_t i) { return i < one.width ? one.x[row * one.width + i] : 1.0; };
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j < size; ++j) a[i][j] += number(i) * number(j);
      a[i][size] += number(i) * y[row];
    }
  }
  for (int64_t i = 0; i < size; ++i) {
    int64_t pivot = i;
    for (int64_t j = i; j < size; ++j) {
      if (std::abs(a[j][i]) > std::abs(a[pivot][i])) pivot = j;
    }
    std::swap(a[i], a[pivot]);
    for (int64_t j = 0; j < size; ++j) {
      if (j == i) continue;
      const double factor = a[j][i] / a[i][i];
      for (int64_t k = i; k <= size; ++k) a[j][k] -= factor * a[i][k];
    }
  }
  std::vector<double> solution;
  for (int64_t i = 0; i < size; ++i) solution.push_back(a[i][size] / a[i][i]);
  return solution;
}

double prediction_of(const RidgeCase& one, const std::vector<double>& solution, int64_t row) {
  double sum = solution[one.width];
  for (int64_t i = 0; i < one.width; ++i) sum += solution[i] * one.x[row * one.width + i];
  return sum;
}

TEST(Ridge, SolvesTheNormalEquationsWithAFreeInterceptBothWays) {
  for (const auto& [rows, width] : {std::pair{20, 5}, {6, 15}}) {
    const RidgeCase one = ridge_case(rows, width);
    const LinearProbeFit fit = Ridge(one.x, rows, {0.7}).fit(one.y);
    for (int64_t output = 0; output < 2; ++output) {
      const auto expected = plain_ridge(one, one.y.data() + output * rows, 0.7, -1);
      for (int64_t i = 0; i < width; ++i) {
        EXPECT_NEAR(fit.weights[output * width + i], expected[i], 1e-9) << rows;
      }
      EXPECT_NEAR(fit.intercepts[output], expected[width], 1e-8) << rows;
    }
  }
}

TEST(Ridge, LeaveOneOutResidualsAreThoseOfRefits) {
  for (const auto& [rows, width] : {std::pair{20, 5}, {6, 15}}) {
    const RidgeCase one = ridge_case(rows, width);
    const std::vector<double> penalties{0.1, 3.0};
    const Ridge ridge(one.x, rows, penalties);
    for (size_t penalty = 0; penalty < 2; ++penalty) {
      const std::vector<double> residuals = ridge.leave_one_out(one.y, penalty);
      for (int64_t output = 0; output < 2; ++output) {
        for (int64_t row = 0; row < rows; ++row) {
          const double* y = one.y.data() + output * rows;
          const double expected =
              y[row] - prediction_of(one, plain_ridge(one, y, penalties[penalty], row), row);
          EXPECT_NEAR(residuals[output * rows + row], expected, 1e-8) << rows << ' ' << row;
        }
      }
    }
  }
}

TEST(Ridge, TakesThePenaltyWithTheSmallestErrorOfRefits) {
  const RidgeCase one = ridge_case(20, 5);
  const std::vector<double> penalties{1e-3, 1e-1, 10, 1e3, 1e5};
  const LinearProbeFit fit = Ridge(one.x, 20, penalties).fit(one.y);
  size_t best = 0;
  std::vector<double> errors;
  for (size_t penalty = 0; penalty < penalties.size(); ++penalty) {
    double error = 0;
    for (int64_t output = 0; output < 2; ++output) {
      const double* y = one.y.data() + output * 20;
      for (int64_t row = 0; row < 20; ++row) {
        const double off =
            y[row] - prediction_of(one, plain_ridge(one, y, penalties[penalty], row), row);
        error += off * off / 40;
      }
    }
    errors.push_back(error);
    EXPECT_NEAR(fit.errors[penalty], error, 1e-8);
    if (error < errors[best]) best = penalty;
  }
  EXPECT_EQ(fit.penalty, penalties[best]);
  EXPECT_GT(best, 0u) << "otherwise nothing was chosen";
}

TEST(Ridge, RefusesWhatIsNotNumbersAndPenaltiesThatAreNone) {
  std::vector<double> x{1, 2, 3, NAN};
  EXPECT_THROW(Ridge(x, 4, {1.0}), InvalidInput);
  x[3] = 4;
  EXPECT_THROW(Ridge(x, 4, {0.0}), InvalidInput);
  EXPECT_THROW(Ridge(x, 1, {1.0}), InvalidInput);
}

}  // namespace
}  // namespace whyformer
