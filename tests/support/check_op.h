// One harness for every operator: a test only says how to build the graph.
#pragma once

#include <functional>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

struct OpCheck {
  // Builds the operator on inputs of the shapes below, all of type `dtype`.
  std::function<Value(GraphBuilder&, const std::vector<Value>&, DType dtype)> build;
  std::vector<Shape> inputs;
  // Inputs that have no gradient, such as masks.
  std::vector<bool> constant = {};
  double smallest_input = -1, largest_input = 1;
};

// Expects, on random inputs: the forward shape is the inferred one; gradients in double equal
// central differences to 1e-6; value and gradient in float equal those in double to 1e-5; where the
// operator says that an axis is independent, moving one position of an input moves only that
// position of the output; memory reuse changes nothing.
void check_op(const OpCheck& check);

// Random numbers in [low, high), the same for the same seed.
Tensor random_tensor(const Shape& shape, DType dtype, int seed, double low = -1, double high = 1);

}  // namespace whyformer
