// Deformable attention: softmax weights of points that are sampled from a map, which no map over
// tokens stands for.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

// Names of the softmaxes that weigh what a GridSample picks, from the input to the output.
std::vector<std::string> sampled_attention(const Graph& graph);

}  // namespace whyformer
