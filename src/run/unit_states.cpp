#include "run/unit_states.h"

#include <algorithm>

#include "base/parallel.h"
#include "models/sample_ranges.h"

namespace whyformer {
namespace {

bool has_rows_of_units(const Graph& graph, Value value, Value embeddings) {
  const Shape& shape = graph.shape(value);
  const Shape& like = graph.shape(embeddings);
  return shape.size() == 3 && shape[0] == like[0] && shape[1] == like[1];
}

// Whether the node makes each unit's row from that unit's rows alone.
bool works_unit_by_unit(const Graph& graph, const Node& node, const std::vector<bool>& by_unit) {
  std::vector<ValueType> types;
  for (const Value input : node.inputs) types.push_back(graph.type(input));
  const std::optional<AxisFlow> flow = node.op->follow(1, types);
  if (!flow || !flow->independent) return false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!graph.varies(node.inputs[i])) continue;
    if (!by_unit[node.inputs[i].id] || flow->sources[i] != 1) return false;
  }
  return true;
}

// Values that are rounded by a span which all units share, and what is made of them.
std::vector<bool> depend_on_spans(const Graph& graph) {
  std::vector<bool> depend(graph.value_count(), false);
  for (const Node& node : graph.nodes()) {
    bool any = rounds_dynamically(*node.op);
    for (const Value input : node.inputs) any = any || depend[input.id];
    for (const Value output : node.outputs) depend[output.id] = any;
  }
  return depend;
}

constexpr int64_t kFewestCopied = 1 << 16;  // numbers by one thread

template <class T>
Tensor pick_as(const Tensor& states, const PickedStates& picked) {
  const int64_t units = picked.units, width = states.dim(2);
  Tensor all = Tensor::empty({picked.inputs(), units, width}, states.dtype());
  const T* from = states.data<T>();
  T* to = all.mutable_data<T>();
  const auto count = static_cast<int64_t>(picked.numbers.size());
  parallel_for(count, kFewestCopied / width + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::copy_n(from + (picked.numbers[i] * units + i % units) * width, width, to + i * width);
  });
  return all;
}

}  // namespace

Tensor pick(const Tensor& states, const PickedStates& picked) {
  return states.dtype() == DType::kFloat64 ? pick_as<double>(states, picked)
                                           : pick_as<float>(states, picked);
}

std::vector<Tensor> run_up_to(const FedGraph& inputs, const std::vector<Value>& values) {
  const Pass pass = run(inputs.graph->graph, inputs.feeds, {.outputs = values});
  std::vector<Tensor> results;
  for (const Value value : values) results.push_back(pass[value].contiguous());
  return results;
}

std::vector<Value> values_of_single_units(const ModelGraph& built) {
  const Graph& graph = built.graph;
  if (!built.embeddings.valid() || graph.shape(built.embeddings).size() != 3) return {};
  const std::vector<bool> by_span = depend_on_spans(graph);
  if (by_span[built.embeddings.id]) return {};
  std::vector<bool> by_unit(graph.value_count(), false);
  by_unit[built.embeddings.id] = true;
  for (const Node& node : graph.nodes()) {
    const Value made = node.outputs[0];
    if (made == built.embeddings || !graph.varies(made)) continue;
    if (!has_rows_of_units(graph, made, built.embeddings) || by_span[made.id]) continue;
    by_unit[made.id] = works_unit_by_unit(graph, node, by_unit);
  }
  std::vector<Value> values;
  for (int id = 0; id < graph.value_count(); ++id) {
    const std::vector<int>& users = graph.users({id});
    const bool mixed = std::any_of(users.begin(), users.end(), [&](int user) {
      return !by_unit[graph.nodes()[user].outputs[0].id];
    });
    if (by_unit[id] && mixed) values.push_back({id});
  }
  return values;
}

}  // namespace whyformer
