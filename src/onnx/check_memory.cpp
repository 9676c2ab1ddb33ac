#include "onnx/check_memory.h"

#include <fmt/format.h>
#include <unistd.h>

#include "formats/file_checks.h"
#include "graph/constant.h"
#include "onnx/node_scope.h"

namespace whyformer::onnx {
namespace {

constexpr int64_t kAlwaysAllowed = int64_t{1} << 28;  // numbers: 1 GB
// Times the numbers that the file and its inputs have. Attention maps of long texts come nearest to
// it.
constexpr int64_t kMostGrowth = 64;

int64_t stored_numbers(const std::vector<OnnxNode>& nodes) {
  int64_t count = 0;
  for (const OnnxNode& node : nodes) {
    for (const auto& [name, attribute] : node.attributes) {
      if (const auto* tensor = std::get_if<FileTensor>(&attribute))
        count += element_count(tensor->shape);
    }
  }
  return count;
}

int64_t given_numbers(const Graph& graph, const OnnxFile& file) {
  int64_t count = stored_numbers(file.graph.nodes);
  for (const auto& [key, function] : file.functions) count += stored_numbers(function.nodes);
  for (const auto& [name, weight] : file.graph.initialisers) count += element_count(weight.shape);
  for (const Value input : graph.inputs()) count += element_count(graph.shape(input));
  return count;
}

uint64_t machine_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace

void check_memory(const Graph& graph, const OnnxFile& file) {
  const int64_t given = given_numbers(graph, file);
  const uint64_t memory = machine_memory();
  for (const Node& node : graph.nodes()) {
    if (constant_value(*node.op) != nullptr) continue;  // there already, or one number seen as many
    for (const Value output : node.outputs) {
      const ValueType& type = graph.type(output);
      const int64_t count = element_count(type.shape);
      if (count <= kAlwaysAllowed) continue;
      const uint64_t bytes = static_cast<uint64_t>(count) * (type.dtype == DType::kFloat32 ? 4 : 8);
      if (count / kMostGrowth > given) {
        throw FaultyFile(fmt::format(
            "{} {}: its result {} would take {}, though the file and its inputs hold only {} "
            "numbers; look at the lengths that the file computes with",
            node.op->kind(), in_quotes(node.name), to_string(type.shape), size_text(bytes), given));
      }
      if (bytes > memory) {
        throw InvalidInput(fmt::format(
            "{} {}: its result {} would take {}, but this machine has {}; give shorter inputs",
            node.op->kind(), in_quotes(node.name), to_string(type.shape), size_text(bytes),
            size_text(memory)));
      }
    }
  }
}

}  // namespace whyformer::onnx
