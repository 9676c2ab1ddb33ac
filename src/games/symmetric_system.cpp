#include "games/symmetric_system.h"

#include <algorithm>
#include <cmath>

#include "kernels/cholesky.h"

namespace whyformer {
namespace {

// Pivots below this share of the largest diagonal entry are rounding noise.
constexpr double kSmallestPivot = 1e-12;

double largest_diagonal(const std::vector<double>& matrix, int64_t size) {
  double largest = 0;
  for (int64_t i = 0; i < size; ++i) largest = std::max(largest, matrix[i * size + i]);
  return largest;
}

bool has_small_pivot(const std::vector<double>& factor, int64_t size, double largest) {
  for (int64_t i = 0; i < size; ++i) {
    const double pivot = factor[i * size + i];
    if (!(pivot * pivot > kSmallestPivot * largest)) return true;
  }
  return false;
}

}  // namespace

SymmetricSystem::SymmetricSystem(std::vector<double> matrix, int64_t size) : size_(size) {
  factor_ = matrix;
  singular_ = !factor_cholesky(factor_.data(), size) ||
              has_small_pivot(factor_, size, largest_diagonal(matrix, size));
  if (singular_) factor_by_pivots(matrix);
}

std::vector<double> SymmetricSystem::solve(const std::vector<double>& right, int64_t sides) const {
  std::vector<double> solution(right.size()), x(size_);
  for (int64_t side = 0; side < sides; ++side) {
    for (int64_t i = 0; i < size_; ++i) x[i] = right[i * sides + side];
    if (singular_) {
      solve_shortest(x);
    } else {
      solve_cholesky(factor_.data(), size_, x.data());
    }
    for (int64_t i = 0; i < size_; ++i) solution[i * sides + side] = x[i];
  }
  return solution;
}

// Cholesky with the largest remaining diagonal entry as pivot, column by column, until nothing is
// left.
void SymmetricSystem::factor_by_pivots(const std::vector<double>& matrix) {
  const double largest = largest_diagonal(matrix, size_);
  const auto entry = [&](int64_t i, int64_t j) {
    return matrix[std::max(i, j) * size_ + std::min(i, j)];
  };
  std::vector<double> rest(size_);
  for (int64_t i = 0; i < size_; ++i) rest[i] = matrix[i * size_ + i];
  std::vector<std::vector<double>> columns;
  while (static_cast<int64_t>(columns.size()) < size_) {
    const int64_t pivot = std::max_element(rest.begin(), rest.end()) - rest.begin();
    if (!(rest[pivot] > kSmallestPivot * largest)) break;
    std::vector<double> column(size_);
    for (int64_t i = 0; i < size_; ++i) {
      column[i] = entry(i, pivot);
      for (const std::vector<double>& done : columns) column[i] -= done[i] * done[pivot];
      column[i] /= std::sqrt(rest[pivot]);
    }
    for (int64_t i = 0; i < size_; ++i) rest[i] -= column[i] * column[i];
    rest[pivot] = 0;
    columns.push_back(std::move(column));
  }
  rank_ = static_cast<int64_t>(columns.size());
  tall_.resize(size_ * rank_);
  for (int64_t i = 0; i < size_; ++i) {
    for (int64_t r = 0; r < rank_; ++r) tall_[i * rank_ + r] = columns[r][i];
  }
  inner_.assign(rank_ * rank_, 0);
  for (int64_t r = 0; r < rank_; ++r) {
    for (int64_t s = 0; s <= r; ++s) {
      for (int64_t i = 0; i < size_; ++i) inner_[r * rank_ + s] += columns[r][i] * columns[s][i];
    }
  }
  factor_cholesky(inner_.data(), rank_);
}

// The pseudo-inverse of T Tᵀ is T (Tᵀ T)⁻² Tᵀ.
void SymmetricSystem::solve_shortest(std::vector<double>& x) const {
  std::vector<double> inside(rank_);
  for (int64_t i = 0; i < size_; ++i) {
    for (int64_t r = 0; r < rank_; ++r) inside[r] += tall_[i * rank_ + r] * x[i];
  }
  solve_cholesky(inner_.data(), rank_, inside.data());
  solve_cholesky(inner_.data(), rank_, inside.data());
  for (int64_t i = 0; i < size_; ++i) {
    x[i] = 0;
    for (int64_t r = 0; r < rank_; ++r) x[i] += tall_[i * rank_ + r] * inside[r];
  }
}

}  // namespace whyformer
