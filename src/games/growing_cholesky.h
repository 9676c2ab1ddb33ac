// A Cholesky factor that grows by a row at a time.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace whyformer {

class GrowingCholesky {
 public:
  explicit GrowingCholesky(int64_t most) { rows_.reserve(most); }

  void clear() { rows_.clear(); }

  // `products`: of the new column with those before it. False, and nothing changes, where it
  // depends on them.
  bool append(std::vector<double> products, double square) {
    for (size_t i = 0; i < products.size(); ++i) {
      for (size_t j = 0; j < i; ++j) products[i] -= rows_[i][j] * products[j];
      products[i] /= rows_[i][i];
      square -= products[i] * products[i];
    }
    constexpr double kSmallestPivot = 1e-7;
    const double pivot = std::sqrt(std::abs(square));
    if (pivot < kSmallestPivot) return false;
    products.push_back(pivot);
    rows_.push_back(std::move(products));
    return true;
  }

  std::vector<double> solve(std::vector<double> x) const {
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t j = 0; j < i; ++j) x[i] -= rows_[i][j] * x[j];
      x[i] /= rows_[i][i];
    }
    for (size_t i = x.size(); i-- > 0;) {
      x[i] /= rows_[i][i];
      for (size_t j = 0; j < i; ++j) x[j] -= rows_[i][j] * x[i];
    }
    return x;
  }

 private:
  std::vector<std::vector<double>> rows_;
};

}  // namespace whyformer
