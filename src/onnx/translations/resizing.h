// Resize and Upsample, whose options take a file of their own.
#pragma once

#include "onnx/node_scope.h"

namespace whyformer::onnx {

std::vector<Value> translate_resize(NodeScope& scope);
std::vector<Value> translate_upsample(NodeScope& scope);

}  // namespace whyformer::onnx
