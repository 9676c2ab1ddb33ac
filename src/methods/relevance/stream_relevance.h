// Generic attention explainability over any number of streams (Chefer et al., ICCV 2021, equations
// 5 to 11): how much each token of every stream matters to each token of the stream that is read.
#pragma once

#include <vector>

#include "discovery/attention_sites.h"
#include "run/attention_math.h"

namespace whyformer {

// Relevance of the tokens of every stream [tokens of `stream`, tokens of the other]; a stream's own
// matrix comes without the identity that it starts from. `weighted` holds Ā of every site: the
// positive part of map times gradient, averaged over heads. `read` is the value whose rows are
// asked for, of `stream`.
//
// A site updates the rows of its queries' stream from the states that its queries and its keys
// carry, which the graph tells: two sites that read each other's stream side by side both see the
// old state.
std::vector<Matrix> stream_relevance(const Graph& graph, const Discovery& found,
                                     const std::vector<Matrix>& weighted, int stream, Value read);

// Attention rollout over several streams, as the baselines of Chefer et al. for LXMERT and DETR
// have it: R of a stream is the product of its own self-attention, and another stream is reached
// through the last attention to it alone, as Rᵀ·A·R of what its queries and its keys carry. `maps`
// holds the factor of every self-attention (with identity and normalised as wanted), and the plain
// map of every other site.
std::vector<Matrix> stream_rollout(const Graph& graph, const Discovery& found,
                                   const std::vector<Matrix>& maps, int stream, Value read);

}  // namespace whyformer
