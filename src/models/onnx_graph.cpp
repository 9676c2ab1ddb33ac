#include "models/onnx_graph.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "discovery/blocks.h"
#include "formats/file_checks.h"
#include "models/sample_ranges.h"
#include "onnx/rewrites/rewrite.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kAnyNumber = int64_t{1} << 30;

// Thrown where inputs that run together would change each other's answers.
struct SharedRanges : UnsupportedModel {
  SharedRanges()
      : UnsupportedModel(
            "the model uses dynamic quantisation, whose scale depends on the whole batch: only one "
            "input may run at a time") {}
};

void take_ranges_by_sample(OnnxGraph& built, int64_t batch) {
  std::optional<onnx::Rewritten> by_sample = with_ranges_by_sample(built.graph, batch);
  if (!by_sample) throw SharedRanges();
  for (auto& [name, value] : built.inputs) value = by_sample->new_value[value.id];
  built.output = by_sample->new_value[built.output.id];
  built.graph = std::move(by_sample->graph);
}

// Back from a map along first operands to the Linear of the queries, and to what its norm reads.
Value query_source(const Graph& graph, Value map, Value otherwise) {
  for (Value value = map; graph.producer(value) >= 0;) {
    const Node& node = graph.nodes()[graph.producer(value)];
    if (node.inputs.empty()) break;
    value = node.inputs[0];
    if (!is_a<ops::Linear>(*node.op) || graph.shape(value).size() != 3) continue;
    const int norm = graph.producer(value);
    // A norm that alone reads it, without a residual path beside it, belongs to the embedding.
    const bool normed = norm >= 0 && is_a<ops::LayerNorm>(*graph.nodes()[norm].op) &&
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

OnnxGraph build_onnx(const onnx::OnnxModel& model, onnx::BuildRequest request,
                     const std::string& output, int64_t batch) {
  request.outputs = {output};
  const onnx::BuiltGraph imported = model.build(request);
  const auto share = [&](const Tensor& weight, const Tensor& bias) {
    return model.linear_weights(weight, bias);
  };
  onnx::Rewritten rewritten =
      onnx::rewrite(imported.graph, {imported.values.at(output)}, batch, share);
  OnnxGraph result;
  for (const auto& [name, value] : imported.inputs)
    result.inputs[name] = rewritten.new_value[value.id];
  result.output = rewritten.new_value[imported.values.at(output).id];
  result.graph = std::move(rewritten.graph);
  if (batch > 1 && has_dynamic_ranges(result.graph)) take_ranges_by_sample(result, batch);
  return result;
}

void check_output(const onnx::OnnxFile& file, const std::string& asked) {
  std::vector<std::string> names;
  for (const onnx::DeclaredValue& output : file.graph.outputs) {
    if (output.name == asked) return;
    names.push_back(in_quotes(output.name));
  }
  if (asked.empty()) return;
  throw InvalidInput(fmt::format("the model has no output {}; its outputs are {}", in_quotes(asked),
                                 fmt::join(names, ", ")));
}

int64_t most_together(const onnx::OnnxModel& model, const onnx::BuildRequest& of_two,
                      const std::string& output) {
  try {
    build_onnx(model, of_two, output, 2);
  } catch (const SharedRanges&) {
    return 1;
  }
  return kAnyNumber;
}

Value first_layer_input(const Graph& graph, const Discovery& found, Value otherwise) {
  if (found.sites.empty()) return otherwise;
  try {
    return find_residual_block(graph, found.sites[0]).input;
  } catch (const UnsupportedModel&) {
    return query_source(graph, found.sites[0].attention, otherwise);
  }
}

}  // namespace whyformer
