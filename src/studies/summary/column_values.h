// The columns of a table in a summary, with a number for each input.
#pragma once

#include <string>
#include <vector>

#include "whyformer/summary.h"

namespace whyformer {

// A column by inputs; categories are numbered in the order of their words.
struct ColumnValues {
  bool category = false;
  std::vector<std::string> words = {};
  std::vector<double> numbers = {};  // not a number where a cell is missing
  std::vector<double> scores = {};   // likewise where there is no score
};
ColumnValues values_of(const SummaryRow& row, int64_t instances);

// Columns of a table that a summary holds, the strongest first; those that its last row sums, too.
std::vector<const SummaryRow*> columns_of(const Summary& summary);

}  // namespace whyformer
