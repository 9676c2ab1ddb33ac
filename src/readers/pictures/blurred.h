// A blurred picture.
#pragma once

#include "tensor/tensor.h"

namespace whyformer {

// [channels, height, width] blurred by a Gaussian of this deviation in pixels; edges are mirrored.
Tensor blurred(const Tensor& pixels, double deviation);

}  // namespace whyformer
