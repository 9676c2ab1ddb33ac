// Symmetric matrices of inner products, in double.
#pragma once

#include <cstdint>
#include <vector>

namespace whyformer {

struct SquareMatrix {
  int64_t size = 0;
  std::vector<double> numbers = {};  // row-major

  explicit SquareMatrix(int64_t count) : size(count), numbers(count * count, 0) {}
  double* row(int64_t i) { return numbers.data() + i * size; }
  const double* row(int64_t i) const { return numbers.data() + i * size; }
  double at(int64_t i, int64_t j) const { return numbers[i * size + j]; }
};

}  // namespace whyformer
