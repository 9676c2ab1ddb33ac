#include "games/table_columns.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer {

void check_table(const Table& table, std::string_view what) {
  const int64_t values = static_cast<int64_t>(table.values.size());
  if (table.rows < 1 || table.columns < 1 || values / table.rows != table.columns ||
      values % table.rows != 0) {
    throw InvalidInput(fmt::format("{}: {} rows of {} columns do not go with {} values", what,
                                   table.rows, table.columns, values));
  }
}

ColumnGroups checked_groups(const ColumnGroups& groups, int64_t columns) {
  ColumnGroups checked = groups;
  if (groups.empty()) {
    for (int64_t column = 0; column < columns; ++column) checked.push_back({column});
  }
  std::vector<bool> used(columns);
  for (const std::vector<int64_t>& group : checked) {
    if (group.empty()) throw InvalidInput("a group of columns is empty: leave it out");
    for (const int64_t column : group) {
      if (column < 0 || column >= columns) {
        throw InvalidInput(
            fmt::format("a group names column {}, the table has {}", column, columns));
      }
      if (used[column])
        throw InvalidInput(fmt::format("column {} is in two groups: leave it in one", column));
      used[column] = true;
    }
  }
  return checked;
}

}  // namespace whyformer
