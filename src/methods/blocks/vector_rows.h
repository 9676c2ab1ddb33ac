// Steps on vectors [rows, tokens, width] that add up, over the tokens, to a state [rows, width];
// the sums keep equal to the state that the operator gives. All are contiguous, in 32 or 64 bits.
#pragma once

#include <vector>

#include "methods/blocks/block_vectors.h"
#include "ops/ops.h"

namespace whyformer {

// How a bias b is shared out over the vectors x_k of a row.
enum class BiasShare {
  kAbsoluteDot,         // by |⟨x_k, b⟩|
  kNorm,                // by ‖x_k‖
  kEqual,               // alike over those that are not 0
  kAbsoluteSimilarity,  // by |cos(x_k, b)|
  kDot,                 // by ⟨x_k, b⟩, which may be negative
  kOneToken,            // all of it to one token
  kNone                 // biases are left out, and the sums with them
};

// What an activation f does to vectors that add up to z.
enum class ActivationShare {
  kZeroOrigin,  // times f(z) / z
  kTangent      // times f'(z); the rest f(z) - f'(z)·z is shared out like a bias
};

struct Sharing {
  BiasShare biases = BiasShare::kAbsoluteDot;
  ActivationShare activation = ActivationShare::kZeroOrigin;
  int64_t bias_token = 0;  // of kOneToken
};

// x_k += w_k·b in every row, the weights of a row adding up to 1.
void share_bias(Tensor vectors, const std::vector<double>& bias, const Sharing& sharing);

// x_k·Wᵀ, without the bias; `add_linear` adds it to `sums`.
Tensor linear_of(const Tensor& vectors, const LinearWeights& weights);
void add_linear(const Tensor& vectors, const LinearWeights& weights, Tensor sums);

// x_k += y_k.
void add_vectors(Tensor vectors, const Tensor& more);

void carry_through_norm(Tensor vectors, const NormStep& norm, const Sharing& sharing);

// By the lengths of `states` [rows, width], as a norm divides by the deviation of the true state.
void divide_by_length(Tensor vectors, const Tensor& states);

// `states` [rows, width] is what the activation was applied to.
void carry_through_activation(Tensor vectors, ActivationFunction f, const Tensor& states,
                              const Sharing& sharing);

}  // namespace whyformer
