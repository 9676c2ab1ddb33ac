#include "games/augmented_system.h"

#include <algorithm>
#include <cmath>

namespace whyformer {
namespace {

void add_row(GramSystem& system, const std::vector<double>& x, double target) {
  const int64_t columns = system.columns;
  for (int64_t a = 0; a < columns; ++a) {
    if (x[a] == 0) continue;
    double* row = system.gram.data() + a * columns;
    for (int64_t b = 0; b <= a; ++b) row[b] += x[a] * x[b];
    system.right[a] += x[a] * target;
    system.column_sums[a] += x[a];
  }
  system.target_square += target * target;
  system.target_sum += target;
}

void mirror(GramSystem& system) {
  for (int64_t a = 0; a < system.columns; ++a) {
    for (int64_t b = 0; b < a; ++b)
      system.gram[b * system.columns + a] = system.gram[a * system.columns + b];
  }
}

}  // namespace

GramSystem augmented_system(std::span<const Coalition> coalitions, std::span<const double> weights,
                            std::span<const double> y, double delta, int64_t budget) {
  const int64_t players = static_cast<int64_t>(coalitions.front().size());
  GramSystem system{.rows = 2 * budget, .columns = players};
  system.gram.resize(players * players);
  system.right.resize(players);
  system.column_sums.resize(players);
  std::vector<double> x(players);
  for (size_t i = 0; i < coalitions.size(); ++i) {
    const double size =
        static_cast<double>(std::count(coalitions[i].begin(), coalitions[i].end(), true));
    const double shown = std::sqrt(weights[i] * (static_cast<double>(players) - size));
    const double hidden = std::sqrt(weights[i] * size);
    for (int64_t a = 0; a < players; ++a) x[a] = coalitions[i][a] ? shown : 0;
    add_row(system, x, shown * y[i]);
    for (int64_t a = 0; a < players; ++a) x[a] = coalitions[i][a] ? 0 : -hidden;
    add_row(system, x, hidden * (y[i] - delta));
  }
  mirror(system);
  return system;
}

GramSystem centred(GramSystem system) {
  const double rows = static_cast<double>(system.rows);
  for (int64_t a = 0; a < system.columns; ++a) {
    for (int64_t b = 0; b < system.columns; ++b) {
      system.gram[a * system.columns + b] -= system.column_sums[a] * system.column_sums[b] / rows;
    }
    system.right[a] -= system.column_sums[a] * system.target_sum / rows;
  }
  system.target_square -= system.target_sum * system.target_sum / rows;
  std::fill(system.column_sums.begin(), system.column_sums.end(), 0.0);
  system.target_sum = 0;
  return system;
}

}  // namespace whyformer
