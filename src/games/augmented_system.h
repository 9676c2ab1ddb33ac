// What Kernel SHAP selects players by: the fit with the sum constraint as a second half of rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "whyformer/games.h"

namespace whyformer {

// Inner products of columns X and a target Y over `rows` rows.
struct GramSystem {
  int64_t rows = 0, columns = 0;
  std::vector<double> gram = {};   // XᵀX [columns × columns], whole
  std::vector<double> right = {};  // XᵀY
  double target_square = 0;        // YᵀY
  std::vector<double> column_sums = {};
  double target_sum = 0;
};

// For every coalition z with weight k, size s and worth y (of nothing visible taken off): row z
// with weight k (players - s) and target y, and row z - 1 with weight k s and target y - delta,
// both times √weight. The budget counts rows that were never drawn, which are 0.
GramSystem augmented_system(std::span<const Coalition> coalitions, std::span<const double> weights,
                            std::span<const double> y, double delta, int64_t budget);

// With the means taken off columns and target.
GramSystem centred(GramSystem system);

}  // namespace whyformer
