// DecompX (Modarressi et al., ACL 2023): every state of the network as a sum of one vector per
// input token, carried from the first block to the output.
#pragma once

#include <map>
#include <optional>

#include "discovery/blocks.h"
#include "graph/pass.h"
#include "methods/blocks/vector_rows.h"

namespace whyformer {

// The vectors x_{i←k} of one sample, carried forward block by block and then operator by operator.
// Graph and pass must outlive this; the pass must have kept everything.
class Decomposition {
 public:
  Decomposition(const Graph& graph, const Pass& pass, int64_t sample, const Sharing& sharing)
      : graph_(graph), pass_(pass), sample_(sample), sharing_(sharing) {}

  // The first block starts from its input, each token's row being its own vector.
  void through(const EncoderBlock& block);

  // One operator behind the last block, in the order of the graph: a norm, a linear map, an
  // activation, the division by a length, or one that is linear in what comes from the block. Only
  // for what `check` has let pass.
  void through_head(const Node& node);

  // Throws UnsupportedModel that names what vectors cannot be carried through, before the work.
  static void check(const Graph& graph, const std::vector<EncoderBlock>& blocks,
                    const std::vector<const Node*>& head);

  // Of what was done last, [rows, tokens, width]: summed over the tokens, the state of each row.
  const Tensor& vectors() const { return vectors_; }

  // Bytes that the vectors of such a block take while they are carried.
  static int64_t memory_needed(const Graph& graph, const EncoderBlock& block);

 private:
  Tensor after_first_attention(const EncoderBlock& block) const;
  Tensor mixed_values(const EncoderBlock& block) const;
  void add_attention(const EncoderBlock& block);
  void finish_rows(const EncoderBlock& block, int64_t first, int64_t count);
  Tensor linear(const Node& node, const Tensor& vectors) const;
  Tensor affine(const Node& node) const;
  Tensor outcome_of(const Node& node, std::optional<int64_t> token) const;
  void forget_read(const Node& node);
  // In place; row r of the vectors is row first_row + r of the operator's input.
  void norm(const Node& node, Tensor vectors, int64_t first_row) const;
  void activation(const Node& node, Tensor vectors, int64_t first_row) const;

  const Graph& graph_;
  const Pass& pass_;
  int64_t sample_;
  Sharing sharing_;
  Tensor vectors_;
  std::map<Value, Tensor> of_values_;  // from the last block on, by the values they add up to
};

}  // namespace whyformer
