#include "models/onnx_graph.h"

#include "formats/onnx/rewrites/rewrite.h"
#include "graph/blocks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Back from a map along first operands to the Linear of the queries, and to what its norm reads.
Value query_source(const Graph& graph, Value map, Value otherwise) {
  for (Value value = map; graph.producer(value) >= 0;) {
    const Node& node = graph.nodes()[graph.producer(value)];
    if (node.inputs.empty()) break;
    value = node.inputs[0];
    if (node.op->linear_weights() == nullptr || graph.shape(value).size() != 3) continue;
    const int norm = graph.producer(value);
    // A norm that alone reads it, without a residual path beside it, belongs to the embedding.
    const bool normed = norm >= 0 && graph.nodes()[norm].op->layer_norm_weights() != nullptr &&
                        graph.users(graph.nodes()[norm].inputs[0]).size() > 1;
    return normed ? graph.nodes()[norm].inputs[0] : value;
  }
  return otherwise;
}

}  // namespace

Value OnnxGraph::input(const std::string& name) const {
  const auto found = inputs.find(name);
  return found == inputs.end() ? Value{} : found->second;
}

OnnxGraph build_onnx(const onnx::OnnxModel& model, onnx::BuildRequest request, const std::string& output,
                     int64_t batch) {
  request.outputs = {output};
  const onnx::BuiltGraph imported = model.build(request);
  const auto share = [&](const Tensor& weight, const Tensor& bias) {
    return model.linear_weights(weight, bias);
  };
  onnx::Rewritten rewritten =
      onnx::rewrite(imported.graph, {imported.values.at(output)}, batch, share);
  OnnxGraph result;
  for (const auto& [name, value] : imported.inputs) result.inputs[name] = rewritten.new_value[value.id];
  result.output = rewritten.new_value[imported.values.at(output).id];
  result.graph = std::move(rewritten.graph);
  return result;
}

Value first_layer_input(const Graph& graph, const Discovery& found, Value otherwise) {
  if (found.sites.empty()) return otherwise;
  try {
    return find_blocks(graph, {found.sites[0]})[0].input;
  } catch (const UnsupportedModel&) {
    return query_source(graph, found.sites[0].attention, otherwise);
  }
}

}  // namespace whyformer
