#include "models/onnx_graph.h"

#include "formats/onnx/rewrites/rewrite.h"

namespace whyformer {

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

}  // namespace whyformer
