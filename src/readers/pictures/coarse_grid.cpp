#include "readers/pictures/coarse_grid.h"

#include <algorithm>
#include <array>
#include <utility>

namespace whyformer {
namespace {

// The coefficients of the neighbours in one direction, or of the cells themselves.
GridValues GridEquations::*towards(int64_t down, int64_t right) {
  if (down == 0) return right == 0 ? &GridEquations::own : &GridEquations::right;
  if (right == 0) return &GridEquations::down;
  return right < 0 ? &GridEquations::down_left : &GridEquations::down_right;
}

// The coarse coordinates that a fine one interpolates, half of each. Even ones have one twice, and
// so has the last of an even number.
struct Parents {
  explicit Parents(int64_t fine, int64_t coarse_count)
      : before(fine / 2), behind(std::min((fine + 1) / 2, coarse_count - 1)) {}
  int64_t before, behind;
};

// The row of P that belongs to a fine cell: one, two or four coarse cells with equal weights.
struct Interpolation {
  Interpolation(int64_t y, int64_t x, const GridEquations& coarse) {
    const Parents rows(y, coarse.height), columns(x, coarse.width);
    const int64_t down = rows.behind - rows.before, right = columns.behind - columns.before;
    const double weight = (down ? 0.5 : 1) * (right ? 0.5 : 1);
    for (int64_t i = 0; i <= down; ++i) {
      for (int64_t j = 0; j <= right; ++j) {
        parents[count++] = {rows.before + i, columns.before + j, weight};
      }
    }
  }
  struct Parent {
    int64_t y, x;
    double weight;
  };
  const Parent* begin() const { return parents.data(); }
  const Parent* end() const { return parents.data() + count; }
  std::array<Parent, 4> parents;
  int64_t count = 0;
};

}  // namespace

GridEquations coarser(const GridEquations& fine) {
  GridEquations coarse((fine.height + 1) / 2, (fine.width + 1) / 2);
  constexpr std::array<std::pair<int64_t, int64_t>, 5> kAfter{
      {{0, 0}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}};
  for (int64_t y = 0; y < fine.height; ++y) {
    for (int64_t x = 0; x < fine.width; ++x) {
      if (fine.own[fine.at(y, x)] == 0) continue;
      const Interpolation row(y, x, coarse);
      for (const auto& [down, right] : kAfter) {
        const double coefficient = (fine.*towards(down, right))[fine.at(y, x)];
        if (coefficient == 0) continue;
        for (const auto& a : row) {
          for (const auto& b : Interpolation(y + down, x + right, coarse)) {
            // A has each pair of neighbours twice, the stored coefficients have it once.
            const int64_t dy = b.y - a.y, dx = b.x - a.x;
            const bool same = dy == 0 && dx == 0, forward = dy > 0 || (dy == 0 && dx >= 0);
            const double share = a.weight * b.weight * coefficient;
            if (down == 0 && right == 0) {
              if (forward) (coarse.*towards(dy, dx))[coarse.at(a.y, a.x)] += share;
            } else if (forward) {
              (coarse.*towards(dy, dx))[coarse.at(a.y, a.x)] += same ? 2 * share : share;
            } else {
              (coarse.*towards(-dy, -dx))[coarse.at(b.y, b.x)] += share;
            }
          }
        }
      }
    }
  }
  return coarse;
}

void restrict_to(const GridEquations& coarse, GridValues& b, const GridEquations& fine,
                 const GridValues& residual) {
  std::fill(b.begin(), b.end(), 0.0);
  for (int64_t y = 0; y < fine.height; ++y) {
    const Parents rows(y, coarse.height);
    const double* from = &residual[fine.at(y, 0)];
    for (double* to : {&b[coarse.at(rows.before, 0)], &b[coarse.at(rows.behind, 0)]}) {
      for (int64_t x = 0; x < fine.width; ++x) {
        const Parents columns(x, coarse.width);
        to[columns.before] += 0.25 * from[x];
        to[columns.behind] += 0.25 * from[x];
      }
    }
  }
}

void add_interpolated(const GridEquations& fine, GridValues& x, const GridEquations& coarse,
                      const GridValues& coarse_x) {
  for (int64_t y = 0; y < fine.height; ++y) {
    const Parents rows(y, coarse.height);
    const double* above = &coarse_x[coarse.at(rows.before, 0)];
    const double* below = &coarse_x[coarse.at(rows.behind, 0)];
    double* to = &x[fine.at(y, 0)];
    for (int64_t column = 0; column < fine.width; ++column) {
      const Parents columns(column, coarse.width);
      to[column] += 0.25 * (above[columns.before] + above[columns.behind] + below[columns.before] +
                            below[columns.behind]);
    }
  }
}

}  // namespace whyformer
