// A rewrite that skips work exactly: where the output reads one row of the tokens, the operators
// between the last attention map and the read-out run on that row alone.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace whyformer {

struct Restricted {
  Graph graph;
  std::vector<Value> new_value;  // by old value id; invalid where the value is gone
};

// Keeps `output`, every value in `full` (whole, all rows) and what they need; everything else goes.
Restricted restrict_rows(const Graph& graph, Value output, const std::vector<Value>& full);

}  // namespace whyformer
