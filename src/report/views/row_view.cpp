#include "report/views/row_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace whyformer::report {
namespace {

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

}  // namespace

bool is_row(const Explanation& explanation) {
  if (explanation.picture || !explanation.streams.empty()) return false;
  size_t columns = 0;
  for (const Unit& unit : explanation.units) {
    if (unit.special) continue;
    if (unit.column.empty()) return false;
    ++columns;
  }
  return columns > 0;
}

std::string unit_word(const Explanation& explanation) {
  return explanation.units.front().row ? "row" : "column";
}

std::vector<RowColumn> row_columns(const Explanation& explanation) {
  std::vector<RowColumn> columns;
  for (size_t i = 0; i < explanation.units.size(); ++i) {
    const Unit& unit = explanation.units[i];
    if (unit.special) continue;
    const std::string written =
        unit.cell.empty() && unit.value ? fmt::format("{:.6g}", *unit.value) : unit.cell;
    columns.push_back({.unit = i,
                       .name = unit.column,
                       .cell = unit.missing ? "missing" : written,
                       .kind = unit.row        ? "row"
                               : unit.category ? "category"
                                               : "number",
                       .background = background_phrase(unit)});
  }
  return columns;
}

std::vector<size_t> by_strength(const std::vector<RowColumn>& columns,
                                const Attribution& attribution) {
  std::vector<size_t> order(columns.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto weight = [&](size_t i) {
    const double score = attribution.scores[columns[i].unit];
    return std::isnan(score) ? -1 : std::abs(score);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weight(a) > weight(b); });
  return order;
}

std::string background_phrase(const Unit& unit) {
  if (!unit.background) return "";
  if (unit.category || unit.missing) return percent(unit.background->equal);
  const std::string above = "above " + percent(unit.background->below);
  if (unit.background->equal == 0) return above;
  return above + ", equal to " + percent(unit.background->equal);
}

}  // namespace whyformer::report
