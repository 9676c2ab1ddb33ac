// Normal equations of least squares.
#pragma once

#include <cstdint>
#include <vector>

namespace whyformer {

// Solves A x = b for a symmetric, positive semi-definite A [size × size], of which the lower half
// is read, and one or more right-hand sides [size × sides] in the range of A. Where A is singular:
// the shortest solution.
class SymmetricSystem {
 public:
  SymmetricSystem(std::vector<double> matrix, int64_t size);

  bool singular() const { return singular_; }
  std::vector<double> solve(const std::vector<double>& right, int64_t sides) const;

 private:
  void factor_by_pivots(const std::vector<double>& matrix);
  void solve_shortest(std::vector<double>& x) const;

  int64_t size_;
  bool singular_ = false;
  std::vector<double> factor_;
  // Where singular: A = T Tᵀ with T [size × rank], and the Cholesky factor of Tᵀ T.
  int64_t rank_ = 0;
  std::vector<double> tall_, inner_;
};

}  // namespace whyformer
