#include "games/least_angle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "games/lasso.h"
#include "tests/support/fit_test_games.h"

namespace whyformer {
namespace {

GramSystem random_system(int64_t rows, int64_t columns, uint32_t seed) {
  const std::vector<double> x = random_numbers(rows * columns, seed),
                            y = random_numbers(rows, seed + 1);
  GramSystem system{.rows = rows, .columns = columns};
  system.gram.resize(columns * columns);
  system.right.resize(columns);
  system.column_sums.resize(columns);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t a = 0; a < columns; ++a) {
      for (int64_t b = 0; b < columns; ++b)
        system.gram[a * columns + b] += x[row * columns + a] * x[row * columns + b];
      system.right[a] += x[row * columns + a] * y[row];
      system.column_sums[a] += x[row * columns + a];
    }
    system.target_square += y[row] * y[row];
    system.target_sum += y[row];
  }
  return system;
}

// Xᵀ(Y - X w).
std::vector<double> correlations(const GramSystem& system, const std::vector<double>& w) {
  std::vector<double> left = system.right;
  for (int64_t a = 0; a < system.columns; ++a) {
    for (int64_t b = 0; b < system.columns; ++b)
      left[a] -= system.gram[a * system.columns + b] * w[b];
  }
  return left;
}

// What characterises a solution of the lasso: all correlations are at most the penalty, and equal
// to it with the sign of the coefficient where that is not 0.
void expect_lasso_solution(const GramSystem& system, const std::vector<double>& w,
                           double tolerance) {
  const std::vector<double> left = correlations(system, w);
  double penalty = 0;
  for (const double c : left) penalty = std::max(penalty, std::abs(c));
  for (int64_t j = 0; j < system.columns; ++j) {
    if (w[j] == 0) continue;
    EXPECT_NEAR(left[j], std::copysign(penalty, w[j]), tolerance) << j;
  }
}

TEST(LeastAngle, KnotsOfTheLassoPathSolveTheLasso) {
  for (uint32_t seed = 1; seed < 30; ++seed) {
    const GramSystem system = random_system(15, 10, seed);
    const LeastAnglePath path = least_angle_path(system, PathKind::kLasso, 500);
    ASSERT_GE(path.knots.size(), 11u);
    for (const std::vector<double>& knot : path.knots) {
      std::vector<double> cleaned = knot;
      for (double& c : cleaned) c = std::abs(c) < 1e-14 ? 0 : c;
      expect_lasso_solution(system, cleaned, 1e-10);
    }
    for (const double left : correlations(system, path.knots.back())) EXPECT_NEAR(left, 0, 1e-10);
  }
}

TEST(LeastAngle, EntersTheStrongestFirstAndOneInEachPass) {
  const GramSystem system = random_system(200, 8, 3);
  const LeastAnglePath path = least_angle_path(system, PathKind::kLeastAngle, 3);
  ASSERT_EQ(path.active.size(), 3u);
  const auto weaker = [&](double a, double b) { return std::abs(a) < std::abs(b); };
  EXPECT_EQ(path.active[0], std::max_element(system.right.begin(), system.right.end(), weaker) -
                                system.right.begin());
}

TEST(LeastAngle, LeavesOutColumnsThatDependOnOthers) {
  GramSystem system = random_system(50, 3, 5);
  // A fourth column, twice the first.
  GramSystem wider{.rows = 50, .columns = 4};
  for (int64_t a = 0; a < 4; ++a) {
    for (int64_t b = 0; b < 4; ++b) {
      wider.gram.push_back(system.gram[a % 3 * 3 + b % 3] * (a == 3 ? 2 : 1) * (b == 3 ? 2 : 1));
    }
    wider.right.push_back(system.right[a % 3] * (a == 3 ? 2 : 1));
  }
  EXPECT_EQ(least_angle_path(wider, PathKind::kLasso, 100).active.size(), 3u);
}

TEST(Lasso, SolvesTheLasso) {
  for (uint32_t seed = 1; seed < 10; ++seed) {
    const GramSystem system = centred(random_system(40, 8, seed));
    const double penalty = 0.03;
    const std::vector<double> w = lasso(system, penalty);
    const std::vector<double> left = correlations(system, w);
    for (int64_t j = 0; j < 8; ++j) {
      EXPECT_LE(std::abs(left[j]), penalty * 40 * 1.02);
      if (w[j] == 0) continue;
      EXPECT_NEAR(left[j], std::copysign(penalty * 40, w[j]), 0.02 * penalty * 40);
    }
  }
}

TEST(Lasso, GivesNothingUnderALargePenalty) {
  EXPECT_EQ(lasso(centred(random_system(40, 5, 1)), 100), std::vector<double>(5, 0.0));
}

}  // namespace
}  // namespace whyformer
