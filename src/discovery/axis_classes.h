// Which axes of which values run over the same positions.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace whyformer {

// Union–find over (value, axis), joined by what operators say about their axes (Op::follow).
class AxisClasses {
 public:
  explicit AxisClasses(const Graph& graph);

  int of(Value value, int axis) const;
  // Whether some axis of the value belongs to the class.
  bool has(const Graph& graph, Value value, int axis_class) const;

 private:
  void join(Value a, int a_axis, Value b, int b_axis);
  void join_axes(const Graph& graph, const Node& node);

  std::vector<int> first_;  // by value: the number of its axis 0
  mutable std::vector<int> parent_;
};

}  // namespace whyformer
