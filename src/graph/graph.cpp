#include "graph/graph.h"

#include <fmt/format.h>

#include "whyformer/error.h"

namespace whyformer {
namespace {

// Where a value's only reader is a transposition, let its operator write in the transposed order:
// merging heads is then a view.
void choose_memory_orders(std::vector<Node>& nodes, const Graph& graph) {
  for (Node& node : nodes) {
    const std::vector<int>& users = graph.users(node.outputs[0]);
    if (users.size() != 1) continue;
    const std::vector<int> order = nodes[users[0]].op->axis_order();
    if (order.empty()) continue;
    if (auto op = node.op->writing_in_order(order)) node.op = std::move(op);
  }
}

}  // namespace

Value GraphBuilder::new_value(ValueType type, std::string name, int producer, bool varies) {
  const Value value{graph_.value_count()};
  graph_.types_.push_back(std::move(type));
  graph_.names_.push_back(std::move(name));
  graph_.producers_.push_back(producer);
  graph_.varies_.push_back(varies);
  graph_.users_.emplace_back();
  return value;
}

Value GraphBuilder::input(std::string name, Shape shape, DType dtype, InputRole role) {
  const Value value = new_value({std::move(shape), dtype}, std::move(name), -1,
                                role == InputRole::kExplained);
  graph_.inputs_.push_back(value);
  return value;
}

Value GraphBuilder::add(std::shared_ptr<const Op> op, std::vector<Value> inputs, std::string name) {
  std::vector<ValueType> types;
  bool varies = false;
  for (const Value input : inputs) {
    types.push_back(graph_.type(input));
    varies = varies || graph_.varies(input);
  }
  std::vector<ValueType> outputs;
  try {
    outputs = op->infer(types);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{} '{}': {}", op->kind(), name, error.what()));
  }
  const int index = static_cast<int>(graph_.nodes_.size());
  for (const Value input : inputs) graph_.users_[input.id].push_back(index);
  Node node{std::move(name), std::move(op), std::move(inputs), {}};
  for (ValueType& output : outputs) {
    node.outputs.push_back(new_value(std::move(output), node.name, index, varies));
  }
  graph_.nodes_.push_back(std::move(node));
  return graph_.nodes_.back().outputs[0];
}

Graph GraphBuilder::finish() {
  choose_memory_orders(graph_.nodes_, graph_);
  return std::move(graph_);
}

}  // namespace whyformer
