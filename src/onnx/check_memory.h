// A few bytes of a file can ask for values of any size.
#pragma once

#include "graph/graph.h"
#include "onnx/onnx_file.h"

namespace whyformer::onnx {

// Throws FaultyFile that names a node whose result is out of all proportion to the file and its
// inputs, and InvalidInput for one that is larger than the machine's memory.
void check_memory(const Graph& graph, const OnnxFile& file);

}  // namespace whyformer::onnx
