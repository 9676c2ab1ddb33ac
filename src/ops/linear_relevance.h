// Relevance of rows that a constant matrix multiplies: what Linear and Conv share.
#pragma once

#include <vector>

#include "graph/rule.h"
#include "ops/linear_weights.h"

namespace whyformer {

// Least and largest value of each sample's input; rows of one sample follow each other.
struct Bounds {
  std::vector<double> least, most;
};

// `y` = x·Wᵀ + bias is known from the forward run. All of [rows, in] or [rows, out]. `bounds` only for
// the box rule. Throws InvalidInput for rules that have no meaning here.
Tensor linear_relevance(const LinearWeights& weights, const Tensor& x, const Tensor& y,
                        const Tensor& relevance, const Rule& rule, const Bounds& bounds = {});

}  // namespace whyformer
