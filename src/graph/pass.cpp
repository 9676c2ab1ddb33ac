#include "graph/pass.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer {
namespace {

void check_feed(const Graph& graph, Value value, const Tensor& tensor) {
  const ValueType& type = graph.type(value);
  if (tensor.shape() != type.shape || tensor.dtype() != type.dtype) {
    throw InvalidInput(fmt::format("'{}' must have the shape {} but {} was given",
                                   graph.name(value), to_string(type.shape),
                                   to_string(tensor.shape())));
  }
}

// Nodes that some wanted value depends on, short of values that are given.
std::vector<bool> nodes_to_run(const Graph& graph, const std::vector<Value>& wanted,
                               const Feeds& feeds) {
  std::vector<bool> needed(graph.nodes().size(), false);
  const auto need = [&](Value value) {
    if (graph.producer(value) >= 0 && !feeds.contains(value)) needed[graph.producer(value)] = true;
  };
  for (const Value value : wanted) need(value);
  for (size_t index = needed.size(); index-- > 0;) {
    if (!needed[index]) continue;
    for (const Value input : graph.nodes()[index].inputs) need(input);
  }
  return needed;
}

// For each value, whether the pass must hold it at the end.
std::vector<bool> values_to_keep(const Graph& graph, const RunOptions& options) {
  std::vector<bool> keep(graph.value_count(), options.keep == Keep::kEverything);
  for (const Value value : options.outputs) keep[value.id] = true;
  if (options.keep != Keep::kGradients) return keep;
  for (const Node& node : graph.nodes()) {
    const BackwardNeeds needs = node.op->backward_needs();
    if (needs.inputs) {
      for (const Value input : node.inputs) keep[input.id] = true;
    }
    if (needs.outputs) {
      for (const Value output : node.outputs) keep[output.id] = true;
    }
  }
  return keep;
}

// The position of the last node that runs and reads each value.
std::vector<int> last_uses(const Graph& graph, const std::vector<bool>& runs) {
  std::vector<int> last(graph.value_count(), -1);
  for (size_t index = 0; index < runs.size(); ++index) {
    if (!runs[index]) continue;
    for (const Value input : graph.nodes()[index].inputs) last[input.id] = static_cast<int>(index);
  }
  return last;
}

void evaluate(const Node& node, std::vector<Tensor> inputs, KeepForBackward keep, Pass& pass,
              size_t index) {
  Forward result = node.op->forward(inputs, keep);
  for (size_t output = 0; output < result.outputs.size(); ++output) {
    pass.values[node.outputs[output].id] = std::move(result.outputs[output]);
  }
  pass.kept[index] = std::move(result.kept);
}

}  // namespace

Pass run(const Graph& graph, const Feeds& feeds, const RunOptions& options) {
  Pass pass;
  pass.values.resize(graph.value_count());
  pass.kept.resize(graph.nodes().size());
  const std::vector<bool> runs = nodes_to_run(graph, options.outputs, feeds);
  for (const Value input : graph.inputs()) {
    const auto feed = feeds.find(input);
    if (feed == feeds.end()) {
      throw InvalidInput(fmt::format("the model's input '{}' was not given", graph.name(input)));
    }
  }
  for (const auto& [value, tensor] : feeds) {
    check_feed(graph, value, tensor);
    pass.values[value.id] = tensor;
  }
  const std::vector<bool> keeps = values_to_keep(graph, options);
  const std::vector<int> last = last_uses(graph, runs);
  const auto keep =
      options.keep == Keep::kOutputs ? KeepForBackward::kNo : KeepForBackward::kYes;
  for (size_t index = 0; index < runs.size(); ++index) {
    if (!runs[index]) continue;
    const Node& node = graph.nodes()[index];
    std::vector<Tensor> inputs;
    for (const Value input : node.inputs) inputs.push_back(pass.values[input.id]);
    for (const Value input : node.inputs) {
      const bool done = last[input.id] == static_cast<int>(index) && !keeps[input.id];
      if (done && graph.producer(input) >= 0) pass.values[input.id] = {};
    }
    evaluate(node, std::move(inputs), keep, pass, index);
  }
  return pass;
}

Pass rerun(const Graph& graph, const Pass& pass, const Feeds& overrides) {
  Pass result = pass;
  std::vector<bool> changed(graph.value_count(), false);
  for (const auto& [value, tensor] : overrides) {
    check_feed(graph, value, tensor);
    result.values[value.id] = tensor;
    changed[value.id] = true;
  }
  for (size_t index = 0; index < graph.nodes().size(); ++index) {
    const Node& node = graph.nodes()[index];
    if (overrides.contains(node.outputs[0])) continue;
    bool stale = false;
    for (const Value input : node.inputs) stale = stale || changed[input.id];
    if (!stale) continue;
    std::vector<Tensor> inputs;
    for (const Value input : node.inputs) {
      inputs.push_back(result.values[input.id]);
      if (!inputs.back().defined()) {
        throw Error(fmt::format("rerun: the pass did not keep '{}'", graph.name(input)));
      }
    }
    evaluate(node, std::move(inputs), KeepForBackward::kYes, result, index);
    for (const Value output : node.outputs) changed[output.id] = true;
  }
  return result;
}

}  // namespace whyformer
