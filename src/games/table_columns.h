// Checks of tables and of the groups their columns are taken in.
#pragma once

#include <string_view>

#include "whyformer/games.h"

namespace whyformer {

// Throws InvalidInput, with `what` as the table's name, unless it has rows, columns and a value for
// each of them.
void check_table(const Table& table, std::string_view what);

// One group per column where none are given. Columns that are in no group stay as they are.
ColumnGroups checked_groups(const ColumnGroups& groups, int64_t columns);

}  // namespace whyformer
