// Nodes in an order in which each reads only what was made before.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "onnx/onnx_file.h"

namespace whyformer::onnx {

// Keeps the file's order where it is already one. Throws FileError for a cycle, and for two nodes
// that make the same value.
void sort_nodes(std::vector<OnnxNode>& nodes);

// What the node reads, also inside its branches.
std::vector<std::string> names_read(const OnnxNode& node);

}  // namespace whyformer::onnx
