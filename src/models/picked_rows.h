// Where ids of a model's input pick rows of a table.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"

namespace whyformer {

struct PickedRows {
  Value rows;  // [batch, tokens, width], or [batch, width] for one position
  // The positions of the ids that pick them, where those are not all of them: one table per column,
  // say.
  std::optional<SlicedRows> positions;
};

// The rows that an input of ids picks: of one table by all ids, or else those of each table by the
// ids at its positions. Empty where no table was found.
std::vector<PickedRows> rows_picked_by(const Graph& graph, Value ids);

}  // namespace whyformer
