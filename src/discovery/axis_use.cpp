#include "discovery/axis_use.h"

#include <algorithm>
#include <set>

namespace whyformer {
namespace {

constexpr int kMostSteps = 6;      // from a map to its product with the values
constexpr size_t kMostPlaces = 8;  // in one value

int64_t elements_behind(const Shape& shape, int axis) {
  int64_t count = 1;
  for (size_t i = axis + 1; i < shape.size(); ++i) count *= shape[i];
  return count;
}

bool is_multiplied(const Graph& graph, Value map) {
  std::set<int> reached;
  std::vector<Value> values{map};
  for (int step = 0; step <= kMostSteps; ++step) {
    std::vector<Value> next;
    for (const Value value : values) {
      for (const int user : graph.users(value)) {
        if (graph.nodes()[user].op->kind() == "MatMul") return true;
        if (reached.insert(user).second) next.push_back(graph.nodes()[user].outputs[0]);
      }
    }
    values = std::move(next);
  }
  return false;
}

}  // namespace

bool has_attention(const Graph& graph) {
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    return node.op->is_softmax() && is_multiplied(graph, node.outputs[0]);
  });
}

AxisUse::AxisUse(const Graph& graph, Value input, int axis)
    : graph_(graph), length_(graph.shape(input)[axis]), places_(graph.value_count()) {
  places_[input.id].push_back({axis, 1, length_});
  for (const Node& node : graph.nodes()) follow(node);
}

std::optional<int> AxisUse::axis_in(Value value) const {
  for (const Place& place : places_[value.id]) {
    if (graph_.shape(value)[place.axis] == length_) return place.axis;
  }
  return std::nullopt;
}

void AxisUse::follow(const Node& node) {
  std::vector<Place>& found = places_[node.outputs[0].id];
  for (size_t input = 0; input < node.inputs.size(); ++input) {
    for (const Place& place : places_[node.inputs[input].id]) {
      const std::vector<Place> next = through(node, input, place);
      for (const Place& one : next) {
        stays_apart_ &= one.length == place.length;
        if (std::find(found.begin(), found.end(), one) == found.end()) found.push_back(one);
      }
      // The span of all numbers only says how they are rounded.
      stays_apart_ &=
          (!next.empty() && node.outputs.size() == 1) || node.op->kind() == "DynamicScale";
      const bool last =
          input == 0 && place.axis == static_cast<int>(graph_.shape(node.inputs[0]).size()) - 1;
      has_attention_ |= last && node.op->is_softmax() && is_multiplied(graph_, node.outputs[0]);
      const bool whole = last && graph_.shape(node.inputs[0]).back() == length_;
      const bool weighs = node.op->linear_weights() != nullptr ||
                          (node.op->kind() == "MatMul" && !graph_.varies(node.inputs[1]));
      is_of_features_ |= whole && weighs;
    }
  }
  // Two places in one value are pairs of positions.
  if (found.size() > 1) stays_apart_ = false;
  if (found.size() > kMostPlaces) found.clear();
}

std::vector<AxisUse::Place> AxisUse::through(const Node& node, size_t input,
                                             const Place& place) const {
  std::vector<Place> found;
  const Shape& shape = graph_.shape(node.outputs[0]);
  if (node.op->kind() == "Reshape") {
    const auto next = through_reshape(place, graph_.shape(node.inputs[0]), shape);
    if (next) found.push_back(*next);
    return found;
  }
  std::vector<ValueType> types;
  for (const Value one : node.inputs) types.push_back(graph_.type(one));
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    const auto flow = node.op->follow(axis, types);
    const bool comes_from =
        flow && input < flow->sources.size() && flow->sources[input] == place.axis;
    // Rows of a Linear may be rounded together, which mixes nothing else.
    if (comes_from && (flow->independent || node.op->linear_weights() != nullptr))
      found.push_back({axis, place.inner, place.length});
  }
  // Tokens that others are put beside.
  const bool joined = node.op->kind() == "Concat" && found.empty() &&
                      graph_.shape(node.inputs[input])[place.axis] == place.length;
  if (joined) found.push_back({place.axis, 1, shape[place.axis]});
  return found;
}

std::optional<AxisUse::Place> AxisUse::through_reshape(const Place& place, const Shape& from,
                                                       const Shape& to) {
  const int64_t stride = place.inner * elements_behind(from, place.axis);
  for (int axis = 0; axis < static_cast<int>(to.size()); ++axis) {
    const int64_t behind = elements_behind(to, axis);
    if (behind == 0 || behind > stride || behind * to[axis] <= stride) continue;
    const int64_t inner = stride / behind;
    if (stride % behind == 0 && to[axis] % (inner * place.length) == 0)
      return Place{axis, inner, place.length};
  }
  return std::nullopt;
}

}  // namespace whyformer
