// A graph with what its inputs get.
#pragma once

#include <cstdint>
#include <memory>

#include "models/model_graph.h"

namespace whyformer {

struct Run {
  std::shared_ptr<const ModelGraph> graph;
  Feeds feeds;
};

// Tokens of each input; `otherwise` where the graph's embeddings do not tell.
int64_t tokens_in(const ModelGraph& graph, int64_t otherwise);

// How many inputs of so many tokens can run together in the memory and gain by it. `graph` may be
// for another number.
int64_t most_inputs_at_once(const ModelGraph& graph, int64_t tokens, int64_t memory_bytes);

}  // namespace whyformer
