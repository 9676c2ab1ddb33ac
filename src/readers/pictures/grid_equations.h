// Symmetric linear equations on a grid of cells, solved by conjugate gradients with multigrid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace whyformer {

// One number for each cell of a grid and of the frame around it, which is one cell wide.
using GridValues = std::vector<double>;

// A x = b where each cell's equation has its own value and those of its eight neighbours. The
// coefficients of a cell are its own and those of the four neighbours after it; by symmetry, the
// other four are the neighbours'. Those of the frame are 0, and so are all of a cell that has no
// equation. Elsewhere, A is positive definite.
struct GridEquations {
  GridEquations(int64_t height, int64_t width);

  int64_t at(int64_t y, int64_t x) const { return (y + 1) * stride + x + 1; }

  int64_t height, width, stride;
  GridValues own, right, down_left, down, down_right;
};

class MultigridSolver {
 public:
  explicit MultigridSolver(GridEquations equations);

  // x with |b - A x| ≤ tolerance · |b|; of no meaning in cells without an equation, where b is 0.
  // Throws Error when rounding, or numbers that are not finite, keep it from being found.
  GridValues solve(GridValues b, double tolerance) const;

 private:
  struct Range {
    int64_t begin, end;
  };
  struct Level {
    explicit Level(GridEquations given);
    bool depends_little() const;

    GridEquations equations;
    GridValues step;            // of Jacobi's method: what a residual is multiplied by
    std::vector<Range> ranges;  // of cells with equations; short gaps are in them
  };
  struct Work {
    GridValues b, x, residual;
  };

  void precondition(size_t level, std::vector<Work>& work) const;

  std::vector<Level> levels_;  // finest first
};

}  // namespace whyformer
