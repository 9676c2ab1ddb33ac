// Weights of 8 bits that need not become floats: those that only quantised products and look-ups
// read.
#pragma once

#include <set>
#include <string>

#include "onnx/onnx_file.h"

namespace whyformer::onnx {

// Names of such initialisers of the file's graph.
std::set<std::string> narrow_weights(const OnnxFile& file);

}  // namespace whyformer::onnx
