#include "kernels/cholesky.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "tests/support/every_target.h"

namespace whyformer {
namespace {

// I + M Mᵀ of random numbers.
std::vector<double> positive_matrix(int64_t size) {
  const CounterRandom random(0, "positive matrix", size);
  std::vector<double> root(size * size), matrix(size * size, 0);
  for (int64_t i = 0; i < size * size; ++i) root[i] = random.normal(i);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      matrix[i * size + j] = i == j;
      for (int64_t k = 0; k < size; ++k)
        matrix[i * size + j] += root[i * size + k] * root[j * size + k];
    }
  }
  return matrix;
}

TEST(Cholesky, SolvesWhatTheMatrixMultiplied) {
  for_every_target([] {
    for (const int64_t size : {1, 2, 3, 4, 5, 8, 11, 16, 37, 64}) {
      SCOPED_TRACE(size);
      const std::vector<double> matrix = positive_matrix(size);
      std::vector<double> solution(size), x(size), product(size, 0);
      for (int64_t i = 0; i < size; ++i) solution[i] = std::sin(1.0 + static_cast<double>(i));
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t j = 0; j < size; ++j) product[i] += matrix[i * size + j] * solution[j];
      }
      multiply_vector(matrix.data(), size, size, solution.data(), x.data());
      for (int64_t i = 0; i < size; ++i)
        EXPECT_NEAR(x[i], product[i], 1e-11 * static_cast<double>(size));
      std::vector<double> factor = matrix;
      ASSERT_TRUE(factor_cholesky(factor.data(), size));
      solve_cholesky(factor.data(), size, x.data());
      for (int64_t i = 0; i < size; ++i) EXPECT_NEAR(x[i], solution[i], 1e-9);
    }
  });
}

TEST(Cholesky, LeavesTheUpperHalfAlone) {
  std::vector<double> matrix = positive_matrix(9);
  const std::vector<double> before = matrix;
  ASSERT_TRUE(factor_cholesky(matrix.data(), 9));
  for (int64_t i = 0; i < 9; ++i) {
    for (int64_t j = i + 1; j < 9; ++j) EXPECT_EQ(matrix[i * 9 + j], before[i * 9 + j]);
  }
}

TEST(Cholesky, SaysThatAMatrixIsNotPositive) {
  std::vector<double> matrix = positive_matrix(7);
  matrix[5 * 7 + 5] = -1;
  EXPECT_FALSE(factor_cholesky(matrix.data(), 7));
  std::vector<double> undefined{std::nan("")};
  EXPECT_FALSE(factor_cholesky(undefined.data(), 1));
}

}  // namespace
}  // namespace whyformer
