// What reports show of a row of a table: its columns with their cells, and where these lie in the
// background.
#pragma once

#include <string>
#include <vector>

#include "report/views/view.h"

namespace whyformer::report {

// Whether all units but special tokens are columns of one row.
bool is_row(const Explanation& explanation);

// "column", or "row" where units are rows of a context.
std::string unit_word(const Explanation& explanation);

struct RowColumn {
  size_t unit = 0;
  std::string name;
  std::string cell;        // as it was written, or "missing"
  std::string kind;        // "number" or "category"; "row" of a context
  std::string background;  // "above 62 %, equal to 3 %" or "15 %"; empty without a background
};

// In the order of the units. Special tokens are no columns.
std::vector<RowColumn> row_columns(const Explanation& explanation);

// Places among the columns, the strongest by this method first; those without a score come last.
std::vector<size_t> by_strength(const std::vector<RowColumn>& columns,
                                const Attribution& attribution);

// "above 62 %, equal to 3 %" of the background; of a category or a missing cell its share.
std::string background_phrase(const Unit& unit);

}  // namespace whyformer::report
