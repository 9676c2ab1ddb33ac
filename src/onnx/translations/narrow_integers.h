// Integers of at most 16 bits, which the engine holds as floats with whole values.
#pragma once

#include "onnx/node_scope.h"

namespace whyformer::onnx {

bool is_narrow(ElementType type);

// x, of whole values of any size, wrapped around to what the type holds.
Value wrapped_around(NodeScope& scope, Value x, ElementType type);

// x as another type, by ONNX's rules for Cast.
Value converted(NodeScope& scope, Value x, ElementType from, ElementType to);

}  // namespace whyformer::onnx
