// The encoder block around each attention site, taken apart: projections, residual additions, norms
// and the feed-forward part. Like discovery, from the operators alone, with no names.
#pragma once

#include <string>
#include <vector>

#include "discovery/attention_sites.h"

namespace whyformer {

// stream + branch(stream). The norm stands before the branch (pre-LN), after the addition
// (post-LN), or nowhere; nodes that are not there are null.
struct ResidualPart {
  const Node* norm_before = nullptr;
  const Node* add = nullptr;
  int skip = 0;  // which input of `add` is the stream
  const Node* norm_after = nullptr;

  // The stream behind this part.
  Value output() const { return (norm_after != nullptr ? norm_after : add)->outputs[0]; }
};

// Nodes belong to the graph, which must outlive the block. Behind the attention map (see
// restrict_rows), or already in it, the last block may have only some of the tokens.
struct EncoderBlock {
  std::string name;       // of the attention site
  Value input;            // the stream in front of the block, [batch, tokens, width]
  Value attention;        // [batch, heads, tokens or fewer, tokens]
  Value values;           // value heads, [batch, heads, tokens, head width]
  int64_t first_row = 0;  // the token that is the first of those the block goes on with
  int64_t rows = 0;
  int64_t first_map_row = 0;  // where that token stands in the map
  const Node* value_projection = nullptr;
  const Node* output_projection = nullptr;
  ResidualPart attended;
  // The feed-forward part, outer(activation(inner(x))); all null if it has another form, a gated
  // one, say. In any case it takes each token by itself.
  const Node* inner = nullptr;
  const Node* activation = nullptr;
  const Node* outer = nullptr;
  ResidualPart fed_forward;

  Value output() const { return fed_forward.output(); }
  bool norms_before() const { return attended.norm_before != nullptr; }
};

// One block per site, each reading what the one before gives. Throws UnsupportedModel that names
// the node which breaks the pattern.
std::vector<EncoderBlock> find_blocks(const Graph& graph, const std::vector<AttentionSite>& sites);

// The stream around a site and the two parts that add to it, whatever attention reads of it and by
// which norm, in windows or not: projections and map rows stay empty. Throws UnsupportedModel where
// the parts do not add to one stream.
EncoderBlock find_residual_block(const Graph& graph, const AttentionSite& site);

// The nodes by which `output` depends on the last block, in the order of the graph.
std::vector<const Node*> find_head(const Graph& graph, const EncoderBlock& last, Value output);

}  // namespace whyformer
