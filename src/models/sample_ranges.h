// Models that round by the span their numbers have while they run. Inputs that run together must
// not share it: each would get another answer than it has alone.
#pragma once

#include <optional>
#include <vector>

#include "onnx/rewrites/rewrite.h"

namespace whyformer {

// Whether the operator, or something in the graph, rounds by the span of its numbers.
bool rounds_dynamically(const Op& op);
bool has_dynamic_ranges(const Graph& graph);

// The same graph, which takes `batch` inputs in front, with a span for each of them. Nothing where
// the inputs cannot be followed to what is rounded: such a model runs one input at a time.
std::optional<onnx::Rewritten> with_ranges_by_sample(const Graph& graph, int64_t batch);

}  // namespace whyformer
