#include "discovery/axis_classes.h"

#include "ops/ops.h"

#include <numeric>

namespace whyformer {

AxisClasses::AxisClasses(const Graph& graph) {
  first_.reserve(graph.value_count());
  int count = 0;
  for (int id = 0; id < graph.value_count(); ++id) {
    first_.push_back(count);
    count += static_cast<int>(graph.shape(Value{id}).size());
  }
  parent_.resize(count);
  std::iota(parent_.begin(), parent_.end(), 0);
  for (const Node& node : graph.nodes()) join_axes(graph, node);
}

int AxisClasses::of(Value value, int axis) const {
  int at = first_[value.id] + axis;
  while (parent_[at] != at) {
    parent_[at] = parent_[parent_[at]];  // shorter next time
    at = parent_[at];
  }
  return at;
}

bool AxisClasses::has(const Graph& graph, Value value, int axis_class) const {
  for (size_t axis = 0; axis < graph.shape(value).size(); ++axis) {
    if (of(value, static_cast<int>(axis)) == axis_class) return true;
  }
  return false;
}

void AxisClasses::join(Value a, int a_axis, Value b, int b_axis) {
  parent_[of(a, a_axis)] = of(b, b_axis);
}

void AxisClasses::join_axes(const Graph& graph, const Node& node) {
  if (node.inputs.empty()) return;
  std::vector<ValueType> types;
  for (const Value input : node.inputs) types.push_back(graph.type(input));
  const Value output = node.outputs[0];
  const int rank = static_cast<int>(graph.shape(output).size());
  for (int axis = 0; axis < rank; ++axis) {
    const auto flow = node.op->follow(axis, types);
    if (!flow) continue;
    for (size_t input = 0; input < flow->sources.size(); ++input) {
      if (flow->sources[input] >= 0) join(output, axis, node.inputs[input], flow->sources[input]);
    }
  }
  // A product sums over the same positions of both factors: keys of the map, rows of the values.
  if (is_a<ops::MatMul>(*node.op)) {
    const int a_rank = static_cast<int>(types[0].shape.size());
    const int b_rank = static_cast<int>(types[1].shape.size());
    join(node.inputs[0], a_rank - 1, node.inputs[1], b_rank - 2);
  }
}

}  // namespace whyformer
