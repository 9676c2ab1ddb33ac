// Weights of a layer whose outputs are scaled one by one (LayerScale).
#pragma once

#include "tensor/tensor.h"

namespace whyformer {

// Row i of a matrix, or element i of a vector, times scale[i].
Tensor scaled_rows(const Tensor& rows, const Tensor& scale);

}  // namespace whyformer
