#include "readers/background_share.h"

#include <algorithm>
#include <cmath>

namespace whyformer {

// The steps before a model keep the order of numbers. Behind a column's number stand flags of
// missing cells: rows whose flags differ have no number to compare.
std::optional<BackgroundShare> background_share(const PlacedRow& row, const PlacedColumn& column,
                                                std::span<const double> weights) {
  const Table& table = row.background;
  if (table.rows == 0 || column.places.empty()) return {};
  BackgroundShare share;
  for (int64_t other = 0; other < table.rows; ++other) {
    const auto alike = [&](int64_t place) {
      const double own = row.values[place], there = table.values[other * table.columns + place];
      return own == there || (std::isnan(own) && std::isnan(there));
    };
    const std::span<const int64_t> flags = std::span(column.places).subspan(1);
    if (!std::ranges::all_of(flags, alike)) continue;
    const int64_t first = column.places.front();
    if (alike(first)) share.equal += weights[other];
    const bool smaller = table.values[other * table.columns + first] < row.values[first];
    if (smaller && !column.category) share.below += weights[other];
  }
  return share;
}

}  // namespace whyformer
