// Values of reductions, on their own: gradients of reductions need them too.
#pragma once

#include <vector>

#include "ops/reductions.h"
#include "tensor/tensor.h"

namespace whyformer {

// A tensor seen around some neighbouring axes: [outer, length, inner].
struct AroundAxes {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;
};
AroundAxes around_axes(const Shape& shape, int first, int count);

// x reduced over those axes, which stay with length 1. Floats are summed in double; the result is
// the same for any strides and any number of threads. No LogSumExp of integers.
Tensor reduce_values(const Tensor& x, Reduction f, const std::vector<int>& axes);

// `shape` with those axes of length 1.
Shape with_axes_of_one(Shape shape, const std::vector<int>& axes);

}  // namespace whyformer
