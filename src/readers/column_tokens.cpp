#include "readers/column_tokens.h"

#include <algorithm>

namespace whyformer {
namespace {

// Whether each token [width] differs.
std::vector<bool> differences(const Tensor& a, const Tensor& b) {
  const std::vector<double> left = a.to_doubles(), right = b.to_doubles();
  const int64_t tokens = a.dim(1), width = a.dim(2);
  std::vector<bool> differs(tokens, false);
  for (int64_t i = 0; i < tokens * width; ++i) {
    if (left[i] != right[i]) differs[i / width] = true;
  }
  return differs;
}

}  // namespace

std::vector<int64_t> columns_of_tokens(int64_t columns, const RunChanged& run) {
  const Tensor own = run(std::vector<bool>(columns, false));
  const std::vector<bool> any = differences(own, run(std::vector<bool>(columns, true)));
  std::vector<int64_t> found;
  for (const bool moves : any) found.push_back(moves ? 0 : kNoColumn);
  for (int64_t bit = 1; bit < columns; bit *= 2) {
    std::vector<bool> with(columns), without(columns);
    for (int64_t column = 0; column < columns; ++column) {
      with[column] = (column & bit) != 0;
      without[column] = !with[column];
    }
    const std::vector<bool> by_with = differences(own, run(with)),
                            by_without = differences(own, run(without));
    for (size_t token = 0; token < found.size(); ++token) {
      if (found[token] < 0) continue;
      // A token of one column moves with either half, never with both or neither.
      if (by_with[token] == by_without[token])
        found[token] = kSeveralColumns;
      else if (by_with[token])
        found[token] |= bit;
    }
  }
  return found;
}

UnitsOfTokens units_of_tokens(const std::vector<int64_t>& columns) {
  UnitsOfTokens found;
  for (const int64_t column : columns) {
    const auto end = found.columns.end();
    const auto known = column < 0 ? end : std::find(found.columns.begin(), end, column);
    found.unit_of_token.push_back(known - found.columns.begin());
    if (known == end) found.columns.push_back(column);
  }
  if (found.columns.size() == columns.size()) found.unit_of_token.clear();
  return found;
}

}  // namespace whyformer
