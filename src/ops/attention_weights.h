// Scores and their softmax in one step: p = softmax(scale · a·b + mask).
#pragma once

#include <memory>

#include "graph/op.h"

namespace whyformer {

// `product` is a MatMul, `softmax` what reads it.
std::shared_ptr<const OpPair> attention_weights(std::shared_ptr<const Op> product,
                                                std::shared_ptr<const Op> softmax);

}  // namespace whyformer
