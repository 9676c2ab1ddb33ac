// Which layer each node belongs to, counted from the output: for replacing weights layer by layer.
// Like all of discovery, from the operators alone.
#pragma once

#include <string>
#include <vector>

#include "discovery/attention_sites.h"

namespace whyformer {

// Step 0 is everything behind the last layer, step 1 the last layer, and so on; the last step is
// what lies in front of the first layer.
struct LayerSteps {
  std::vector<int> of_node;  // -1 for nodes that the output does not depend on
  int layers = 0;            // steps 1 … layers; with attention `layers` + 1 is the embeddings

  // "head", "layer L-1", …, "layer 0", "embeddings".
  std::string name(int step) const;
};

// The rule. The depth of an attention site is how many sites, itself included, the longest path
// from it to the output passes. The near depth of a node is the largest depth of the sites whose
// product with the values depends on it. A node belongs to the layer of its near depth if all its
// paths to the output pass products of that depth, as those of projections and of a norm in front
// of them do. Otherwise it is part of the stream, or of a branch that returns to it, and belongs to
// the layer before. What no site depends on is the last layer up to as many residual additions as
// the layer before has, and behind them the head.
//
// A change at step s then leaves every attention map of a depth above s as it is, and a change of
// the head every map.
//
// Without attention the operators that `has_matrix` names take the place of sites: step s has the
// matrices with s others on the longest path behind them, with what follows each.
LayerSteps find_layer_steps(const Graph& graph, const std::vector<AttentionSite>& sites,
                            Value output, const std::vector<bool>& has_matrix);

}  // namespace whyformer
