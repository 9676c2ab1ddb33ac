#include "games/symmetric_system.h"

#include <gtest/gtest.h>

#include "tests/support/fit_test_games.h"

namespace whyformer {
namespace {

// F Fᵀ for F [size × rank].
std::vector<double> product(const std::vector<double>& f, int64_t size, int64_t rank) {
  std::vector<double> matrix(size * size);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      for (int64_t r = 0; r < rank; ++r) matrix[i * size + j] += f[i * rank + r] * f[j * rank + r];
    }
  }
  return matrix;
}

std::vector<double> times(const std::vector<double>& matrix, const std::vector<double>& x) {
  const size_t size = x.size();
  std::vector<double> y(size);
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = 0; j < size; ++j) y[i] += matrix[i * size + j] * x[j];
  }
  return y;
}

TEST(SymmetricSystem, SolvesForSeveralRightHandSides) {
  const int64_t size = 7;
  const std::vector<double> matrix = product(random_numbers(size * 9, 1), size, 9);
  const std::vector<double> a = random_numbers(size, 2), b = random_numbers(size, 3);
  const std::vector<double> of_a = times(matrix, a), of_b = times(matrix, b);
  std::vector<double> right;
  for (int64_t i = 0; i < size; ++i) right.insert(right.end(), {of_a[i], of_b[i]});
  const SymmetricSystem system(matrix, size);
  EXPECT_FALSE(system.singular());
  const std::vector<double> solution = system.solve(right, 2);
  for (int64_t i = 0; i < size; ++i) {
    EXPECT_NEAR(solution[2 * i], a[i], 1e-11);
    EXPECT_NEAR(solution[2 * i + 1], b[i], 1e-11);
  }
}

// The shortest solution is the one in the range of the matrix.
TEST(SymmetricSystem, FindsTheShortestSolutionOfASingularOne) {
  const int64_t size = 8, rank = 3;
  const std::vector<double> matrix = product(random_numbers(size * rank, 4), size, rank);
  const std::vector<double> shortest = times(matrix, random_numbers(size, 5));
  const SymmetricSystem system(matrix, size);
  EXPECT_TRUE(system.singular());
  expect_near(system.solve(times(matrix, shortest), 1), shortest, 1e-11, "shortest");
}

TEST(SymmetricSystem, TakesMatricesOfZerosAndOfNothing) {
  EXPECT_EQ(SymmetricSystem({0, 0, 0, 0}, 2).solve({0, 0}, 1), (std::vector<double>{0, 0}));
  EXPECT_TRUE(SymmetricSystem({}, 0).solve({}, 1).empty());
}

}  // namespace
}  // namespace whyformer
