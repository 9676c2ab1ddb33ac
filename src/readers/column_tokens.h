// Which column of a table each token of the first layer comes from, found by changing columns.
#pragma once

#include <functional>
#include <vector>

#include "graph/pass.h"

namespace whyformer {

constexpr int64_t kNoColumn =
    -1;  // the token is the same whatever the columns say, as a class token is
constexpr int64_t kSeveralColumns = -2;

// Runs the graph up to `tokens` [1, tokens, width] with some columns changed; `changed` tells
// which.
using RunChanged = std::function<Tensor(const std::vector<bool>& changed)>;

// For each token its column, from 0, or one of the two constants. Columns are told apart by their
// numbers' bits, so that few runs do.
std::vector<int64_t> columns_of_tokens(int64_t columns, const RunChanged& run);

// A column that was encoded as several numbers may be several tokens; it stays one unit, which
// stands where its first token does.
struct UnitsOfTokens {
  std::vector<int64_t> columns;        // of each unit
  std::vector<int64_t> unit_of_token;  // empty where token i is unit i
};
UnitsOfTokens units_of_tokens(const std::vector<int64_t>& columns);

}  // namespace whyformer
