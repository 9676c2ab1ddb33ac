#include "run/two_states.h"

#include <algorithm>

#include "models/sample_ranges.h"

namespace whyformer {
namespace {

// Fewer inputs cost less than the states do.
constexpr size_t kFewestInputs = 4;

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

// [inputs, units, numbers]: each row from the state its unit is in.
template <class T>
Tensor pick_as(const Tensor& states, const HiddenUnits& hidden) {
  const int64_t units = states.dim(1), width = states.dim(2);
  Tensor picked =
      Tensor::empty({static_cast<int64_t>(hidden.size()), units, width}, states.dtype());
  const T* from = states.data<T>();
  T* to = picked.mutable_data<T>();
  for (const std::vector<bool>& one : hidden) {
    for (int64_t unit = 0; unit < units; ++unit)
      to = std::copy_n(from + (one[unit] * units + unit) * width, width, to);
  }
  return picked;
}

Tensor pick(const Tensor& states, const HiddenUnits& hidden) {
  return states.dtype() == DType::kFloat64 ? pick_as<double>(states, hidden)
                                           : pick_as<float>(states, hidden);
}

std::vector<Tensor> run_up_to(const FedGraph& inputs, const std::vector<Value>& values) {
  const Pass pass = run(inputs.graph->graph, inputs.feeds, {.outputs = values});
  std::vector<Tensor> results;
  for (const Value value : values) results.push_back(pass[value].contiguous());
  return results;
}

// Every unit's two states. Not every model keeps units apart at its input (a stem of convolutions
// does not), so one input with every other unit hidden must come out the same as when it is run.
std::vector<Tensor> states_of(const TwoStates::MakeRun& make, int64_t units) {
  const FedGraph both = make({std::vector<bool>(units, false), std::vector<bool>(units, true)});
  const std::vector<Value> values = values_of_single_units(*both.graph);
  if (values.empty()) return {};
  const std::vector<Tensor> states = run_up_to(both, values);
  std::vector<bool> alternating(units);
  for (int64_t unit = 0; unit < units; unit += 2) alternating[unit] = true;
  const FedGraph one = make({alternating});
  const std::vector<Value> of_one = values_of_single_units(*one.graph);
  if (of_one.size() != values.size()) return {};
  const std::vector<Tensor> expected = run_up_to(one, of_one);
  for (size_t i = 0; i < states.size(); ++i) {
    const Tensor picked = pick(states[i], {alternating});
    if (picked.shape() != expected[i].shape() || picked.to_doubles() != expected[i].to_doubles())
      return {};
  }
  return states;
}

}  // namespace

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

void TwoStates::feed(FedGraph& inputs, const HiddenUnits& hidden, const MakeRun& make) const {
  if (hidden.size() < kFewestInputs) return;
  if (!states_) states_ = states_of(make, static_cast<int64_t>(hidden[0].size()));
  if (states_->empty()) return;
  const std::vector<Value> values = values_of_single_units(*inputs.graph);
  if (values.size() != states_->size()) return;
  for (size_t i = 0; i < values.size(); ++i) inputs.feeds[values[i]] = pick((*states_)[i], hidden);
}

}  // namespace whyformer
