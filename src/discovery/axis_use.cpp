#include "discovery/axis_use.h"

#include "ops/ops.h"

#include <algorithm>
#include <set>

namespace whyformer {
namespace {

constexpr int kMostSteps = 6;         // from a map to its product with the values
constexpr size_t kMostPositions = 8;  // in one value

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
        if (is_a<ops::MatMul>(*graph.nodes()[user].op)) return true;
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
    return is_a<ops::Softmax>(*node.op) && is_multiplied(graph, node.outputs[0]);
  });
}

AxisUse::AxisUse(const Graph& graph, Value input, int axis)
    : graph_(graph), length_(graph.shape(input)[axis]), positions_(graph.value_count()) {
  positions_[input.id].push_back({axis, 1, length_});
  for (const Node& node : graph.nodes()) follow(node);
}

std::optional<int> AxisUse::axis_in(Value value) const {
  for (const Positions& at : positions_[value.id]) {
    if (graph_.shape(value)[at.axis] == length_) return at.axis;
  }
  return std::nullopt;
}

void AxisUse::follow(const Node& node) {
  std::vector<Positions>& found = positions_[node.outputs[0].id];
  for (size_t input = 0; input < node.inputs.size(); ++input) {
    for (const Positions& at : positions_[node.inputs[input].id]) {
      const std::vector<Positions> next = through(node, input, at);
      for (const Positions& one : next) {
        stays_apart_ &= one.length == at.length;
        if (std::find(found.begin(), found.end(), one) == found.end()) found.push_back(one);
      }
      // The span of all numbers only says how they are rounded.
      stays_apart_ &=
          (!next.empty() && node.outputs.size() == 1) || is_a<ops::DynamicScale>(*node.op);
      const bool last =
          input == 0 && at.axis == static_cast<int>(graph_.shape(node.inputs[0]).size()) - 1;
      has_attention_ |=
          last && is_a<ops::Softmax>(*node.op) && is_multiplied(graph_, node.outputs[0]);
      const bool whole = last && graph_.shape(node.inputs[0]).back() == length_;
      const bool weighs = is_a<ops::Linear>(*node.op) ||
                          (is_a<ops::MatMul>(*node.op) && !graph_.varies(node.inputs[1]));
      is_of_features_ |= whole && weighs;
    }
  }
  // Two places in one value are pairs of positions.
  if (found.size() > 1) stays_apart_ = false;
  if (found.size() > kMostPositions) found.clear();
}

std::vector<AxisUse::Positions> AxisUse::through(const Node& node, size_t input,
                                                 const Positions& at) const {
  std::vector<Positions> found;
  const Shape& shape = graph_.shape(node.outputs[0]);
  if (is_a<ops::Reshape>(*node.op)) {
    const auto next = through_reshape(at, graph_.shape(node.inputs[0]), shape);
    if (next) found.push_back(*next);
    return found;
  }
  std::vector<ValueType> types;
  for (const Value one : node.inputs) types.push_back(graph_.type(one));
  for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
    const auto flow = node.op->follow(axis, types);
    const bool comes_from = flow && input < flow->sources.size() && flow->sources[input] == at.axis;
    // Rows of a Linear may be rounded together, which mixes nothing else.
    if (comes_from && (flow->independent || is_a<ops::Linear>(*node.op)))
      found.push_back({axis, at.inner, at.length});
  }
  // Tokens that others are put beside.
  const bool joined = is_a<ops::Concat>(*node.op) && found.empty() &&
                      graph_.shape(node.inputs[input])[at.axis] == at.length;
  if (joined) found.push_back({at.axis, 1, shape[at.axis]});
  return found;
}

std::optional<AxisUse::Positions> AxisUse::through_reshape(const Positions& at, const Shape& from,
                                                           const Shape& to) {
  const int64_t stride = at.inner * elements_behind(from, at.axis);
  for (int axis = 0; axis < static_cast<int>(to.size()); ++axis) {
    const int64_t behind = elements_behind(to, axis);
    if (behind == 0 || behind > stride || behind * to[axis] <= stride) continue;
    const int64_t inner = stride / behind;
    if (stride % behind == 0 && to[axis] % (inner * at.length) == 0)
      return Positions{axis, inner, at.length};
  }
  return std::nullopt;
}

}  // namespace whyformer
