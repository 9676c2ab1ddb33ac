// What graphs of all models have, whatever their input is.
#pragma once

#include <vector>

#include "discovery/attention_sites.h"
#include "graph/pass.h"

namespace whyformer {

// What the last value of the graph is.
enum class Head {
  kLogits,     // [batch, labels]
  kEmbedding,  // [batch, width]: the pooled hidden states of an encoder without a classifier
  kSimilarity  // [batch, 1]: cosine between that and a given vector
};

struct ModelGraph {
  Graph graph;
  Value reference;     // [batch, width, 1] of the similarity head; invalid elsewhere
  Value embeddings;    // [batch, tokens, width], positions added
  Value layers_input;  // what enters the first layer
  Value output;
  Discovery found;
};

// The cosine between vectors [batch, width] and the reference, which becomes an input.
Value add_similarity(GraphBuilder& graph, Value vector, ModelGraph& built);
// Gives the graph its reference, if it has one. Throws InvalidInput for one of another width.
void feed_reference(const ModelGraph& graph, const std::vector<double>& reference, Feeds& feeds);

// Whether the last layer keeps rows that the output does not read.
enum class KeptRows { kRead, kAll };

// Finds attention in the graph, and leaves out what nobody reads. `inputs` and `places` are the
// kind's own values, which get their new names; at places all rows stay.
void finish_graph(const Graph& whole, ModelGraph& built, int64_t batch, KeptRows rows,
                  const std::vector<Value*>& inputs, const std::vector<Value*>& places);

}  // namespace whyformer
