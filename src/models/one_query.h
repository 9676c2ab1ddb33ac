// A rewrite that skips work exactly, but for rounding: where a single token asks, as in the last
// block of an encoder with a class token, its query goes to where keys are made from, and values
// are made of the weighted sum.
#pragma once

#include "graph/graph.h"

namespace whyformer {

// With s_j = q·(W x_j + b) = (Wᵀq)·x_j + q·b, whose last term the softmax does not see, and Σ_j p_j
// (V x_j + c) = V Σ_j p_j x_j + c. Values keep their ids; what nobody reads any longer stays.
// Returns whether there was anything to fold.
bool fold_single_queries(Graph& graph);

}  // namespace whyformer
