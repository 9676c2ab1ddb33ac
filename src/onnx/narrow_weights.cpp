#include "onnx/narrow_weights.h"

#include <algorithm>
#include <optional>

#include "onnx/operators.h"
#include "onnx/sort_nodes.h"

namespace whyformer::onnx {
namespace {

// Where an operator has a matrix that it takes as bytes.
struct MatrixPlace {
  std::string_view domain, kind;
  size_t input;
};

constexpr MatrixPlace kMatrixPlaces[] = {
    {"", "MatMulInteger", 1},
    {"", "QLinearMatMul", 3},
    {kMicrosoft, "DynamicQuantizeMatMul", 1},
    {kMicrosoft, "MatMulIntegerToFloat", 1},
    {kMicrosoft, "QAttention", 1},
    {kMicrosoft, "QGemm", 3},
    {"", "Gather", 0},
};

bool takes_bytes(const OnnxNode& node, const std::string& name) {
  const auto place = std::find_if(
      std::begin(kMatrixPlaces), std::end(kMatrixPlaces),
      [&](const MatrixPlace& one) { return one.domain == node.domain && one.kind == node.kind; });
  if (place == std::end(kMatrixPlaces)) return false;
  for (size_t input = 0; input < node.inputs.size(); ++input) {
    if (node.inputs[input] == name && input != place->input) return false;
  }
  return true;
}

}  // namespace

std::set<std::string> narrow_weights(const OnnxFile& file) {
  std::set<std::string> names;
  for (const auto& [name, stored] : file.graph.initialisers) {
    const bool bytes = stored.type == ElementType::kInt8 || stored.type == ElementType::kUint8;
    if (bytes && stored.shape.size() == 2 && stored.data.size() > 0) names.insert(name);
  }
  for (const OnnxNode& node : file.graph.nodes) {
    for (const std::string& name : names_read(node)) {
      if (names.contains(name) && !takes_bytes(node, name)) names.erase(name);
    }
  }
  for (const DeclaredValue& output : file.graph.outputs) names.erase(output.name);
  return names;
}

}  // namespace whyformer::onnx
