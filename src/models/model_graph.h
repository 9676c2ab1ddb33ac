// What graphs of all models have, whatever their input is.
#pragma once

#include "graph/attention_sites.h"
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

}  // namespace whyformer
