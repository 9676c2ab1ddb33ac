// A Linear and its activation in one step: y = f(x·Wᵀ + bias).
#pragma once

#include <memory>

#include "graph/op.h"
#include "ops/linear_weights.h"

namespace whyformer {

// `linear` has these weights, `activation` reads it.
std::shared_ptr<const OpPair> linear_activation(std::shared_ptr<const Op> linear,
                                                std::shared_ptr<const LinearWeights> weights,
                                                std::shared_ptr<const Op> activation);

}  // namespace whyformer
