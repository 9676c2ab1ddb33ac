// Finds, in any graph, the attention layers, the token streams they connect, and which rows the
// output reads: from the operators alone, with no names and no knowledge of the architecture.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

// One softmax(q·kᵀ)·v. The maps are the value `attention`, [batch, heads, queries, keys]; windows
// that attend each by itself lie in the batch axis.
struct AttentionSite {
  std::string name;
  Value attention;
  int64_t heads = 0;
  int64_t queries = 0;
  int64_t keys = 0;
  int query_stream = -1;  // index into Discovery::streams
  int key_stream = -1;    // the same for self-attention
  bool causal = false;    // a constant mask hides later keys
  int64_t windows = 1;
  // Of self-attention: the token that the first query is, where the queries are only some
  // neighbouring tokens of the stream; and the first key that is a token, where learned keys stand
  // beside the tokens.
  std::optional<int64_t> first_query = {};
  std::optional<int64_t> first_key = {};

  bool is_self_attention() const { return query_stream == key_stream; }
};

// Where some of a stream's tokens come from.
struct StreamSegment {
  enum class Kind {
    kTokens,    // ids of an input, one vector each
    kPatches,   // a grid over an input picture
    kFrames,    // steps along one axis of an input that a convolution walks over
    kFeatures,  // positions of an input of numbers
    kLearned,   // part of the model: class tokens, object queries
    kUnknown
  };
  Kind kind = Kind::kUnknown;
  std::string input;  // of the model; empty where there is none
  int64_t length = 0;
  std::vector<int64_t> grid;  // of patches: rows and columns
  std::vector<int> axes =
      {};  // of the input that the tokens run along; of patches one per axis of the grid
};

// Tokens that share a residual path.
struct Stream {
  int64_t tokens = 0;
  std::vector<int> sites = {};               // attention layers whose queries belong to it
  std::vector<StreamSegment> segments = {};  // in the order of the tokens
};

// How the output reads a stream.
struct ReadOut {
  enum class Kind {
    kRow,
    kMean,  // over `rows` tokens from `row` on
    kWeights,
    kShares,  // of several rows, or of a row and a mean: `shares` by token
    kChosen,  // a row whose number depends on the input
    kEach,    // one answer per token
    kUnknown
  };
  Kind kind = Kind::kUnknown;
  int stream = -1;
  int64_t row = -1;
  int64_t rows = 1;
  std::vector<double> shares = {};  // for kShares: each part that is read has the same, 1 in all
  Value weights = {};  // for kWeights: [batch, 1, tokens], the factors of a weighted sum
  Value read = {};     // the value of the stream that is read; the output itself for kEach
  int axis = 0;        // its axis of tokens
  int64_t first = 0;   // the token that stands first there: it may have only some of the stream
};

struct Discovery {
  std::vector<AttentionSite> sites;  // from the input to the output
  std::vector<Stream> streams;
  ReadOut read_out;

  // Whether the site's map has a place in one over all tokens of its streams.
  bool covers_tokens(const AttentionSite& site) const {
    return site.query_stream >= 0 && site.key_stream >= 0 &&
           (site.first_query || site.queries == streams[site.query_stream].tokens) &&
           (site.first_key || site.keys == streams[site.key_stream].tokens);
  }
  // The same where both are streams of so many tokens.
  bool covers_tokens(const AttentionSite& site, int64_t tokens) const {
    return covers_tokens(site) && streams[site.query_stream].tokens == tokens &&
           streams[site.key_stream].tokens == tokens;
  }
};

// `batch` inputs go through the graph at once.
Discovery discover(const Graph& graph, Value output, int64_t batch = 1);

}  // namespace whyformer
