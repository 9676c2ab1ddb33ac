// The windows that nodes of convolutions and pooling describe by their attributes.
#pragma once

#include "formats/onnx/node_scope.h"
#include "ops/pictures.h"

namespace whyformer::onnx {

// Strides, dilations, pads and auto_pad for a kernel over an input [batch, channels, space…].
Window window_of(NodeScope& scope, const Shape& input, const std::vector<int64_t>& kernel);

// The same of pooling: kernel_shape, and ceil_mode.
Window pooling_window(NodeScope& scope, const Shape& input);

}  // namespace whyformer::onnx
