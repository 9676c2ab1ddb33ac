// The relevance rules of Voita et al. 2019, as in the authors' lrp.py. An output o with impacts
// z_i = J_oi x_i + f(0)_o / N of its N inputs gives half of its relevance to the positive impacts
// and half to the negative ones, each in proportion; then what arrives is scaled to what was sent.
// All relevance is non-negative. Everything is about one sample.
#pragma once

#include <span>

#include "ops/linear_weights.h"
#include "ops/ops.h"

namespace whyformer::voita {

// A Linear that reads x, and the relevance of its output, [..., out].
struct LinearReader {
  const LinearWeights* weights;
  Tensor relevance;
};

// Relevance of x [..., in], the readers taken as one fused Linear.
Tensor through_linear(const Tensor& x, std::span<const LinearReader> readers);

Tensor through_layer_norm(const LayerNormWeights& weights, const Tensor& x,
                          const Tensor& relevance);

struct Addends {
  Tensor a, b;
};
Addends through_add(const Tensor& a, const Tensor& b, const Tensor& relevance);

// softmax(scale · q·kᵀ)·v for the query rows whose outputs are read.
struct AttentionCall {
  Tensor q, k, v;         // [heads, tokens, width]
  Tensor attention;       // [heads, rows, tokens]
  int64_t first_row = 0;  // the query that row 0 belongs to
  double scale = 1;
};

enum class AttentionMaps {
  kFunction,  // of q and k, which get their share
  kConstant   // everything goes to v
};

struct AttentionShares {
  Tensor q, k, v;  // [heads, tokens, width]
};
// `relevance` [heads, rows, width] is that of the heads' outputs.
AttentionShares through_attention(const AttentionCall& call, const Tensor& relevance,
                                  AttentionMaps maps);

}  // namespace whyformer::voita
