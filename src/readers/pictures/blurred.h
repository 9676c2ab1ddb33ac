// A blurred picture.
#pragma once

#include "tensor/tensor.h"

namespace whyformer {

// [channels, height, width] blurred by a Gaussian of this deviation in pixels; edges are mirrored.
Tensor blurred(const Tensor& pixels, double deviation);

// As RISE blurs what it inserts pixels into (Petsiuk et al., BMVC 2018): 11 x 11 weights, zeros
// around the picture.
Tensor blurred_with_zeros_around(const Tensor& pixels);

}  // namespace whyformer
