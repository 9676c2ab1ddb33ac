// The vectors by which tokens contribute to one another inside one encoder block (Kobayashi et al.,
// EMNLP 2020 and 2021), on which attention-norm, GlobEnc, ALTI and DecompX build.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "discovery/blocks.h"
#include "graph/pass.h"
#include "run/attention_math.h"

namespace whyformer {

// How far through the block the vectors are carried.
enum class Reach {
  kAttention,      // Σ_h A_h[i,j] f_h(x_j), f_h the value head times its output weights
  kResidual,       // u_ij: and the token's own stream where j = i
  kAttentionNorm,  // ũ_ij: and the norm behind, if there is one
  kBlock           // and past the feed-forward part through the norm behind it, if there is one
};

struct BlockVectorOptions {
  Reach reach = Reach::kAttention;
  int64_t head = -1;  // one head alone, or the sum over all
};

// What a LayerNorm does to vectors that add up to its input: each is centred by its own mean and
// divided by the deviation of the true state.
struct NormStep {
  std::vector<double> weight;
  std::vector<double> bias;
  std::vector<double> inverse_deviation;  // by row
};
NormStep norm_step(const Node& norm, const Pass& pass, int64_t sample, int64_t first_row,
                   int64_t rows);

// One sample of a value as rows of its last axis: [rows, width], contiguous.
Tensor state_rows(const Tensor& value, int64_t sample);
Tensor state_rows(const Pass& pass, Value value, int64_t sample);

// The rows of the map that the block goes on with: [heads, rows, tokens].
Tensor map_rows(const EncoderBlock& block, const Pass& pass, int64_t sample);

class BlockVectors {
 public:
  // `pass` must have kept everything.
  BlockVectors(const EncoderBlock& block, const Pass& pass, int64_t sample,
               const BlockVectorOptions& options);

  int64_t rows() const { return maps_.dim(1); }
  int64_t tokens() const { return maps_.dim(2); }
  int64_t width() const { return transformed_.dim(2); }

  // Calls use(i, j, vector_ij) for each row i of the block and each token j, from several threads;
  // all of a row come from one thread.
  using UseVector = std::function<void(int64_t i, int64_t j, std::span<const double> vector)>;
  void for_each(const UseVector& use) const;

 private:
  struct Tile {
    int64_t row, rows, token, tokens;
  };
  template <typename T>
  void for_each_in(const Tile& tile, std::vector<T>& buffer, const UseVector& use) const;
  void carry(int64_t i, int64_t j, std::span<double> vector) const;

  int64_t first_row_;
  Tensor maps_;                 // [heads, rows, tokens]
  Tensor transformed_;          // f_h(x_j): [tokens, heads, width]
  std::vector<double> stream_;  // [rows, width]; empty without the residual
  std::vector<NormStep> norms_;
};

// ‖vector_ij‖₂, [rows, tokens].
Matrix norm_map(const BlockVectors& vectors);

}  // namespace whyformer
