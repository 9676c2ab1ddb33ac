// Relevance of rows that a constant matrix multiplies: what Linear and Conv share.
#pragma once

#include "graph/rule.h"
#include "ops/linear_weights.h"

namespace whyformer {

// Least and largest value that each element of x may have, as rows like x.
struct Bounds {
  Tensor least, most;
};

// `y` = x·Wᵀ + bias is known from the forward run. All of [rows, in] or [rows, out]. `bounds` only
// for the box rule. Throws InvalidInput for rules that have no meaning here.
Tensor linear_relevance(const LinearWeights& weights, const Tensor& x, const Tensor& y,
                        const Tensor& relevance, const Rule& rule, const Bounds& bounds = {});

}  // namespace whyformer
