// Pieces that several translations are put together from.
#pragma once

#include <string>
#include <vector>

#include "onnx/node_scope.h"

namespace whyformer::onnx {

// NumPy's matrix product of any ranks: a Linear where b is a known matrix.
Value product(NodeScope& scope, Value a, Value b);

// x · W + bias along the last axis: a Linear where both are known. `bias` may be invalid.
Value linear_product(NodeScope& scope, Value x, Value weight, Value bias);

// x · factor; x itself for 1.
Value scaled(NodeScope& scope, Value x, double factor);

// The activation that fused operators name ("Relu", "Tanh"…); x itself for the empty name.
Value activated(NodeScope& scope, Value x, const std::string& name);

// LayerNorm over the last axis; scale and bias of any kind, bias may be invalid.
Value layer_normalised(NodeScope& scope, Value x, Value scale, Value bias, double epsilon);
// x / √(mean(x²) + epsilon) · scale over the last axis.
Value rms_normalised(NodeScope& scope, Value x, Value scale, double epsilon);

// Tensors that a translation makes, [count]: one number everywhere, or 0, 1, 2… Throw InvalidInput
// before they make what is longer than any axis of a model.
Tensor filled(int64_t count, double number, DType dtype);
Tensor counted(int64_t count);

// Reshape where the shape differs.
Value reshaped(NodeScope& scope, Value x, const Shape& shape);
// Transpose where the order is not the identity.
Value permuted(NodeScope& scope, Value x, const std::vector<int>& order);

}  // namespace whyformer::onnx
