// Weighted sums over coalitions z (1 = visible) and their values y: all that a linear fit needs to
// know of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "whyformer/games.h"

namespace whyformer {

struct CoalitionMoments {
  CoalitionMoments(int64_t players, int64_t outputs);

  void add(const Coalition& coalition, double weight, std::span<const double> y);
  // The same for some rows of equal weight; y is [rows × outputs]. Counts who is seen together in
  // packed bits.
  void add_alike(std::span<const Coalition> coalitions, std::span<const int64_t> rows,
                 double weight, std::span<const double> y);
  void add(const CoalitionMoments& other, double scale);

  double seen_together(int64_t a, int64_t b) const {
    return a >= b ? zz[a * players + b] : zz[b * players + a];
  }
  double seen(int64_t player) const { return zz[player * players + player]; }

  int64_t players, outputs;
  double weight = 0;  // Σ w
  std::vector<double>
      zz;  // [players × players]: Σ w z zᵀ, the lower half; its diagonal is Σ w z, too
  std::vector<double> zy;  // [players × outputs]: Σ w z y
  std::vector<double> y;   // [outputs]: Σ w y

 private:
  void add_values(const Coalition& coalition, double weight, std::span<const double> y);

  std::vector<double> expanded_;  // scratch of add
};

}  // namespace whyformer
