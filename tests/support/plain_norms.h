// Norm-based methods and DecompX in plain loops, straight from the formulas: what tests compare
// with.
#pragma once

#include "methods/blocks/alti.h"
#include "methods/blocks/vector_rows.h"
#include "tests/support/plain_encoder.h"

namespace whyformer {

using PlainVectors = std::vector<PlainRows>;  // [rows][tokens][width]

// Σ_h A_h[i,j] f_h(x_j), or of one head.
PlainVectors plain_attention_vectors(const PlainEncoder& encoder, int64_t layer,
                                     const PlainStates& states, int64_t head = -1);
// u_ij, ũ_ij, and ũ_ij through the second norm as well.
PlainVectors plain_residual_vectors(const PlainEncoder& encoder, int64_t layer,
                                    const PlainStates& states);
PlainVectors plain_normed_vectors(const PlainEncoder& encoder, int64_t layer,
                                  const PlainStates& states);
PlainVectors plain_block_vectors(const PlainEncoder& encoder, int64_t layer,
                                 const PlainStates& states);

PlainRows plain_lengths(const PlainVectors& vectors);
PlainRows plain_alti(const PlainVectors& vectors, const PlainRows& states, AltiOptions::Norm norm);

// x_{i←k} behind every layer, and the classes' scores [tokens][classes].
struct PlainDecomposition {
  std::vector<PlainVectors> layers;
  PlainRows scores;
};
PlainDecomposition plain_decompx(const PlainEncoder& encoder,
                                 const std::vector<PlainStates>& states, const Sharing& sharing);

}  // namespace whyformer
