// Inner products of activations, and of gradients with activations.
#pragma once

#include <cstdint>

#include "studies/concepts/square_matrix.h"

namespace whyformer {

// Rows of floats somewhere in memory, one after the other.
struct FloatRows {
  const float* data = nullptr;
  int64_t rows = 0;
  int64_t width = 0;
};

struct InnerProducts {
  SquareMatrix gram;                // of the activations, less their mean
  std::vector<double> slopes = {};  // [gradients, activations]: g · (x − mean)
};

// Reads the columns in strips, so that nothing of the activations' size is needed beside them.
// Narrow activations are multiplied in double; of wide ones the products of a strip are summed in
// float, and those of all strips in double.
InnerProducts inner_products(const FloatRows& activations, const FloatRows& gradients);

}  // namespace whyformer
