#include "graph/pass.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/pulse.h"
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

// One node, or two in one, whose result is the second's.
struct Step {
  size_t node;
  const OpPair* pair;  // null: the node alone
  const std::vector<Value>* inputs;
};

// What runs, in order. Nodes pair up where nobody asked for what lies between them.
std::vector<Step> steps_of(const Graph& graph, const std::vector<bool>& runs,
                           const std::vector<bool>& keeps) {
  std::vector<bool> is_first(runs.size(), false), is_second(runs.size(), false);
  for (size_t index = 0; index < runs.size(); ++index) {
    const NodePair* pair = runs[index] ? graph.pair_ending_at(index) : nullptr;
    if (pair == nullptr || !runs[pair->first] || is_second[pair->first]) continue;
    if (keeps[graph.nodes()[index].inputs[0].id]) continue;
    is_first[pair->first] = true;
    is_second[index] = true;
  }
  std::vector<Step> steps;
  for (size_t index = 0; index < runs.size(); ++index) {
    if (!runs[index] || is_first[index]) continue;
    const NodePair* pair = is_second[index] ? graph.pair_ending_at(index) : nullptr;
    if (pair != nullptr)
      steps.push_back({index, pair->op.get(), &pair->inputs});
    else
      steps.push_back({index, nullptr, &graph.nodes()[index].inputs});
  }
  return steps;
}

// The position of the last step that reads each value.
std::vector<int> last_uses(const Graph& graph, const std::vector<Step>& steps) {
  std::vector<int> last(graph.value_count(), -1);
  for (size_t position = 0; position < steps.size(); ++position) {
    for (const Value input : *steps[position].inputs) last[input.id] = static_cast<int>(position);
  }
  return last;
}

// What was given stays, though another output of the same node had to be computed.
void store(const Node& node, size_t index, Forward result, const Feeds& given, Pass& pass) {
  for (size_t output = 0; output < result.outputs.size(); ++output) {
    const Value value = node.outputs[output];
    if (!given.contains(value)) pass.values[value.id] = std::move(result.outputs[output]);
  }
  pass.kept[index] = std::move(result.kept);
}

}  // namespace

Pass run(const Graph& graph, const Feeds& feeds, const RunOptions& options) {
  Pass pass;
  pass.values.resize(graph.value_count());
  pass.kept.resize(graph.nodes().size());
  pass.given.resize(graph.value_count());
  for (const Value input : graph.inputs()) {
    const auto feed = feeds.find(input);
    if (feed == feeds.end()) {
      throw InvalidInput(fmt::format("the model's input '{}' was not given", graph.name(input)));
    }
  }
  for (const auto& [value, tensor] : feeds) {
    check_feed(graph, value, tensor);
    pass.values[value.id] = tensor;
    pass.given[value.id] = true;
  }
  const std::vector<bool> keeps = values_to_keep(graph, options);
  const std::vector<Step> steps =
      steps_of(graph, nodes_to_run(graph, options.outputs, feeds), keeps);
  const std::vector<int> last = last_uses(graph, steps);
  const auto keep = options.keep == Keep::kOutputs ? KeepForBackward::kNo : KeepForBackward::kYes;
  for (size_t position = 0; position < steps.size(); ++position) {
    pulse();
    const auto& [index, pair, values] = steps[position];
    std::vector<Tensor> inputs;
    for (const Value input : *values) inputs.push_back(pass.values[input.id]);
    for (const Value input : *values) {
      const bool done = last[input.id] == static_cast<int>(position) && !keeps[input.id];
      if (done && graph.producer(input) >= 0) pass.values[input.id] = {};
    }
    const Node& node = graph.nodes()[index];
    store(node, index,
          pair != nullptr ? pair->forward(inputs, keep) : node.op->forward(inputs, keep), feeds,
          pass);
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
    const bool all_given = std::all_of(node.outputs.begin(), node.outputs.end(),
                                       [&](Value output) { return overrides.contains(output); });
    if (all_given) continue;
    bool stale = false;
    for (const Value input : node.inputs) stale = stale || changed[input.id];
    if (!stale) continue;
    pulse();
    std::vector<Tensor> inputs;
    for (const Value input : node.inputs) {
      inputs.push_back(result.values[input.id]);
      if (!inputs.back().defined()) {
        throw Error(fmt::format("rerun: the pass did not keep '{}'", graph.name(input)));
      }
    }
    store(node, index, node.op->forward(inputs, KeepForBackward::kYes), overrides, result);
    for (const Value output : node.outputs) changed[output.id] = true;
  }
  return result;
}

}  // namespace whyformer
