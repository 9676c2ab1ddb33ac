// Sizes come from files, which may be damaged or hostile.
#pragma once

#include "tensor/tensor.h"

namespace whyformer {

// Throws InvalidInput for negative lengths and for more elements than any model has (2^33), before
// anything is multiplied or allocated.
void check_size(const Shape& shape);

}  // namespace whyformer
