// Einstein sums as matrix products.
#pragma once

#include <string>
#include <vector>

#include "onnx/node_scope.h"

namespace whyformer::onnx {

// Operands are multiplied from left to right. Throws InvalidInput for an equation that does not fit
// them, and UnsupportedModel where an operand repeats a letter (a diagonal).
Value einsum(NodeScope& scope, const std::string& equation, const std::vector<Value>& operands);

}  // namespace whyformer::onnx
