#include "studies/summary/column_values.h"

#include <algorithm>
#include <limits>
#include <set>

namespace whyformer {

ColumnValues values_of(const SummaryRow& row, int64_t instances) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const auto count = static_cast<size_t>(instances);
  ColumnValues column{.numbers = std::vector<double>(count, kNaN),
                      .scores = std::vector<double>(count, kNaN)};
  std::set<std::string> words;
  for (const SummaryPoint& point : row.points) {
    if (point.category && !point.missing) words.insert(point.cell);
    column.category |= point.category;
  }
  column.words.assign(words.begin(), words.end());
  for (const SummaryPoint& point : row.points) {
    const auto place = static_cast<size_t>(point.instance);
    column.scores[place] = point.score;
    if (point.missing) continue;
    if (column.category) {
      const auto word = std::ranges::lower_bound(column.words, point.cell);
      column.numbers[place] = static_cast<double>(word - column.words.begin());
    } else {
      column.numbers[place] = point.value.value_or(kNaN);
    }
  }
  return column;
}

std::vector<const SummaryRow*> columns_of(const Summary& summary) {
  std::vector<const SummaryRow*> columns;
  const size_t alone = summary.rows.size() - (summary.others > 0 ? 1 : 0);
  const auto add = [&](const SummaryRow& row) {
    const bool of_table = std::ranges::any_of(row.points, [](const SummaryPoint& point) {
      return point.value || point.category || point.missing;
    });
    if (of_table) columns.push_back(&row);
  };
  for (size_t i = 0; i < alone; ++i) add(summary.rows[i]);
  for (const SummaryRow& row : summary.summed) add(row);
  return columns;
}

}  // namespace whyformer
