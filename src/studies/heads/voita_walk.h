// Relevance on its way back by the rules of Voita et al. 2019, as far as the heads' outputs.
#pragma once

#include <vector>

#include "models/model_graph.h"
#include "studies/heads/voita_rules.h"

namespace whyformer::voita {

// Relevance of the heads' outputs, [heads, queries, width] per layer, when output `target` of a run
// with one sample has relevance 1. The pass must have kept everything. Throws UnsupportedModel that
// names an operator for which the method has no rule.
std::vector<Tensor> relevance_of_heads(const ModelGraph& graph, const Pass& pass, int64_t target,
                                       AttentionMaps maps);

}  // namespace whyformer::voita
