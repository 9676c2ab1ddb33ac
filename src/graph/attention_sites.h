// Finds, in any graph, the attention layers, the token streams they connect, and which rows the output
// reads: from the operators alone, with no names and no knowledge of the architecture.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

// One softmax(q·kᵀ)·v. The maps are the value `attention`, [batch, heads, queries, keys].
struct AttentionSite {
  std::string name;
  Value attention;
  int64_t heads = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int query_stream = -1;  // index into Discovery::streams
  int key_stream = -1;    // the same for self-attention

  bool is_self_attention() const { return query_stream == key_stream; }
};

// Tokens that share a residual path.
struct Stream {
  int64_t tokens = 0;
  std::vector<int> sites;  // attention layers whose queries belong to it
};

// How the output reads a stream.
struct ReadOut {
  enum class Kind { kRow, kMean, kWeights, kUnknown };
  Kind kind = Kind::kUnknown;
  int stream = -1;
  int64_t row = -1;  // for kRow
  Value weights;     // for kWeights: [batch, 1, tokens], the factors of a weighted sum
};

struct Discovery {
  std::vector<AttentionSite> sites;  // from the input to the output
  std::vector<Stream> streams;
  ReadOut read_out;
};

Discovery discover(const Graph& graph, Value output);

}  // namespace whyformer
