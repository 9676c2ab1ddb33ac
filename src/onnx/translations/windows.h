// The windows that nodes of convolutions and pooling describe by their attributes.
#pragma once

#include "onnx/node_scope.h"
#include "ops/pictures.h"

namespace whyformer::onnx {

// Throws InvalidInput for numbers that no grid has, so that sums of them cannot overflow.
void check_length(int64_t number, const char* attribute);

// Strides, dilations, pads and auto_pad for a kernel over an input [batch, channels, space…].
Window window_of(NodeScope& scope, const Shape& input, const std::vector<int64_t>& kernel);

// The same of pooling: kernel_shape, and ceil_mode.
Window pooling_window(NodeScope& scope, const Shape& input);

}  // namespace whyformer::onnx
