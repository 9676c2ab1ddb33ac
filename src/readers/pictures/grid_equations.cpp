// Conjugate gradients, preconditioned by one V-cycle of multigrid with a step of Jacobi's method
// before and after (Briggs, Henson and McCormick: A Multigrid Tutorial, 2000). A coarse grid has
// every other cell of the finer one in each direction, P interpolates linearly between them, and
// the coarse equations are Pᵀ A P: also nine coefficients a cell, and right for any pattern of
// cells without equations.
#include "readers/pictures/grid_equations.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "readers/pictures/coarse_grid.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Far more than ever needed: a step leaves about a tenth of the error.
constexpr int kMaxSteps = 1000;

// Σ over a range, in four sums so that it can be vectorised.
double dot(const double* a, const double* b, int64_t begin, int64_t end) {
  std::array<double, 4> sums{};
  int64_t i = begin;
  for (; i + 4 <= end; i += 4) {
    for (int64_t lane = 0; lane < 4; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  for (; i < end; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// (A x)[i].
struct GridProduct {
  explicit GridProduct(const GridEquations& a, const GridValues& values)
      : own(a.own.data()),
        right(a.right.data()),
        down_left(a.down_left.data()),
        down(a.down.data()),
        down_right(a.down_right.data()),
        x(values.data()),
        stride(a.stride) {}
  double operator()(int64_t i) const {
    const int64_t above = i - stride, below = i + stride;
    return own[i] * x[i] + (right[i] * x[i + 1] + right[i - 1] * x[i - 1]) +
           (down[i] * x[below] + down[above] * x[above]) +
           (down_left[i] * x[below - 1] + down_left[above + 1] * x[above + 1]) +
           (down_right[i] * x[below + 1] + down_right[above - 1] * x[above - 1]);
  }
  const double *own, *right, *down_left, *down, *down_right, *x;
  int64_t stride;
};

// Calls store(i, (A x)[i]). The loop over the products is vectorised, since a block of its own is
// no memory that they read.
template <class Store>
void for_each_product(const GridProduct& product, int64_t begin, int64_t end, Store store) {
  std::array<double, 64> block;
  constexpr auto kSize = static_cast<int64_t>(block.size());
  for (; begin < end; begin += kSize) {
    const int64_t count = std::min(kSize, end - begin);
    for (int64_t i = 0; i < count; ++i) block[i] = product(begin + i);
    for (int64_t i = 0; i < count; ++i) store(begin + i, block[i]);
  }
}

}  // namespace

GridEquations::GridEquations(int64_t rows, int64_t columns)
    : height(rows), width(columns), stride(columns + 2) {
  for (GridValues* values : {&own, &right, &down_left, &down, &down_right}) {
    values->assign((rows + 2) * stride, 0.0);
  }
}

MultigridSolver::Level::Level(GridEquations given)
    : equations(std::move(given)), step(equations.own.size(), 0.0) {
  constexpr int64_t kGap = 8;
  GridEquations sizes = equations;
  for (GridValues* values : {&sizes.right, &sizes.down_left, &sizes.down, &sizes.down_right}) {
    for (double& value : *values) value = std::abs(value);
  }
  const GridValues ones(step.size(), 1.0);
  const GridProduct sum(sizes, ones);
  for (int64_t y = 0; y < equations.height; ++y) {
    for (int64_t i = equations.at(y, 0); i < equations.at(y, equations.width); ++i) {
      if (equations.own[i] == 0) continue;
      // Steps below 2 / Σ|a| never diverge (Gershgorin).
      step[i] = std::min(1 / equations.own[i], 1.8 / sum(i));
      if (ranges.empty() || i > ranges.back().end + kGap) ranges.push_back({i, i});
      ranges.back().end = i + 1;
    }
  }
}

// Cells that depend on their neighbours by less than 0.8 of their own coefficient, but for a few,
// need no coarse grids.
bool MultigridSolver::Level::depends_little() const {
  int64_t count = 0, dependent = 0;
  for (size_t i = 0; i < step.size(); ++i) {
    count += step[i] > 0;
    dependent += step[i] > 0 && step[i] < 1 / equations.own[i];
  }
  return 10 * dependent < count;
}

MultigridSolver::MultigridSolver(GridEquations equations) {
  levels_.emplace_back(std::move(equations));
  if (levels_.front().depends_little()) return;
  while (levels_.back().equations.height * levels_.back().equations.width > 1) {
    levels_.emplace_back(coarser(levels_.back().equations));
  }
}

void MultigridSolver::precondition(size_t number, std::vector<Work>& work) const {
  const Level& level = levels_[number];
  auto& [b, x, residual] = work[number];
  for (const auto& [begin, end] : level.ranges) {
    for (int64_t i = begin; i < end; ++i) x[i] = level.step[i] * b[i];
  }
  if (number + 1 == levels_.size()) return;
  const GridProduct product(level.equations, x);
  for (const auto& [begin, end] : level.ranges) {
    for_each_product(product, begin, end,
                     [&](int64_t i, double image) { residual[i] = b[i] - image; });
  }
  const GridEquations& coarse = levels_[number + 1].equations;
  restrict_to(coarse, work[number + 1].b, level.equations, residual);
  precondition(number + 1, work);
  add_interpolated(level.equations, x, coarse, work[number + 1].x);
  for (const auto& [begin, end] : level.ranges) {
    for_each_product(product, begin, end, [&](int64_t i, double image) {
      residual[i] = level.step[i] * (b[i] - image);
    });
  }
  for (const auto& [begin, end] : level.ranges) {
    for (int64_t i = begin; i < end; ++i) x[i] += residual[i];
  }
}

GridValues MultigridSolver::solve(GridValues b, double tolerance) const {
  const Level& finest = levels_.front();
  std::vector<Work> work;
  for (const Level& level : levels_) {
    const GridValues zeros(level.step.size(), 0.0);
    work.push_back({zeros, zeros, zeros});
  }
  const auto product_of = [&](const GridValues& one, const GridValues& other) {
    double sum = 0;
    for (const auto& [begin, end] : finest.ranges) sum += dot(one.data(), other.data(), begin, end);
    return sum;
  };
  auto& [residual, preconditioned, image] = work.front();
  residual = std::move(b);
  GridValues x(residual.size(), 0.0), direction = x;
  const double small = tolerance * tolerance * product_of(residual, residual);
  double before = 1;
  for (int step = 0; step < kMaxSteps; ++step) {
    if (product_of(residual, residual) <= small) return x;
    precondition(0, work);
    const double length = product_of(residual, preconditioned);
    for (const auto& [begin, end] : finest.ranges) {
      for (int64_t i = begin; i < end; ++i)
        direction[i] = preconditioned[i] + length / before * direction[i];
    }
    const GridProduct product(finest.equations, direction);
    for (const auto& [begin, end] : finest.ranges) {
      for_each_product(product, begin, end, [&](int64_t i, double value) { image[i] = value; });
    }
    const double stride = length / product_of(direction, image);
    for (const auto& [begin, end] : finest.ranges) {
      for (int64_t i = begin; i < end; ++i) {
        x[i] += stride * direction[i];
        residual[i] -= stride * image[i];
      }
    }
    before = length;
  }
  throw Error(
      "solving for hidden pixels: the residual does not get as small as it should; are all shown "
      "pixels finite?");
}

}  // namespace whyformer
