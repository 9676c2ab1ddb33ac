#include "graph/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/constant.h"
#include "graph/op_abilities.h"
#include "tensor/check_size.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Where a value's only reader is a transposition, let its operator write in the transposed order:
// merging heads is then a view.
void choose_memory_orders(std::vector<Node>& nodes, const Graph& graph) {
  for (Node& node : nodes) {
    const std::vector<int>& users = graph.users(node.outputs[0]);
    if (users.size() != 1) continue;
    const auto* chooser = able_to<ChoosesOrder>(*node.op);
    if (chooser == nullptr) continue;
    if (auto op = chooser->written_for(*nodes[users[0]].op)) node.op = std::move(op);
  }
}

// What a node may be computed together with: the maker of its first input, if nobody else reads
// that.
NodePair pair_ending_at(const Graph& graph, const Node& node) {
  NodePair pair;
  if (node.inputs.empty() || graph.users(node.inputs[0]).size() != 1) return pair;
  pair.first = graph.producer(node.inputs[0]);
  if (pair.first < 0) return pair;
  const Node& first = graph.nodes()[pair.first];
  if (first.outputs.size() != 1) return pair;
  if (const auto* joining = able_to<RunsWithReader>(*first.op)) {
    pair.op = joining->followed_by(node.op);
  }
  pair.inputs = first.inputs;
  pair.inputs.insert(pair.inputs.end(), node.inputs.begin() + 1, node.inputs.end());
  return pair;
}

// What is larger than this, and than what it is made of, is left to the run: a few bytes of a file
// can ask for a constant of any size.
constexpr int64_t kMostFolded = int64_t{1} << 24;

bool is_small_enough_to_fold(const std::vector<ValueType>& inputs,
                             const std::vector<ValueType>& outputs) {
  int64_t in = kMostFolded, out = 0;
  for (const ValueType& input : inputs) in = std::max(in, element_count(input.shape));
  for (const ValueType& output : outputs) out = std::max(out, element_count(output.shape));
  return out <= in;
}

bool follows_integers(const Op& op, const ValueType& output) {
  return output.dtype == DType::kInt64 || op.depends_on() == DependsOn::kNumbersAndIntegers;
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
  const Value value =
      new_value({std::move(shape), dtype}, std::move(name), -1, role == InputRole::kExplained);
  graph_.inputs_.push_back(value);
  return value;
}

Value GraphBuilder::add(std::shared_ptr<const Op> op, std::vector<Value> inputs, std::string name) {
  return add_all(std::move(op), std::move(inputs), std::move(name))[0];
}

Value GraphBuilder::constant(Tensor tensor, std::string name) {
  return add(std::make_shared<Constant>(std::move(tensor)), {}, std::move(name));
}

void GraphBuilder::replace(size_t index, std::shared_ptr<const Op> op) {
  Node& node = graph_.nodes_[index];
  std::vector<ValueType> types;
  for (const Value input : node.inputs) types.push_back(graph_.type(input));
  const std::vector<ValueType> outputs = op->infer(types);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueType& type = graph_.type(node.outputs[i]);
    if (outputs[i].shape == type.shape && outputs[i].dtype == type.dtype) continue;
    throw Error(fmt::format("{} '{}' gives {}, but what takes its place gives {}", node.op->kind(),
                            node.name, to_string(type.shape), to_string(outputs[i].shape)));
  }
  node.op = std::move(op);
}

const Tensor* GraphBuilder::known(Value value) const {
  const int producer = graph_.producer(value);
  return producer < 0 ? nullptr : constant_value(*graph_.nodes_[producer].op);
}

bool GraphBuilder::folds(const Op& op, const std::vector<Value>& inputs, ValueTypes types) const {
  if (folding_ == Folding::kNo || inputs.empty()) return false;
  const bool all_known = std::all_of(inputs.begin(), inputs.end(),
                                     [&](Value input) { return known(input) != nullptr; });
  return all_known && op.folds(types);
}

std::vector<Value> GraphBuilder::folded(const Op& op, const std::vector<Value>& inputs,
                                        const std::string& name) {
  Tensors tensors;
  for (const Value input : inputs) tensors.push_back(*known(input));
  std::vector<Value> outputs;
  for (Tensor& output : op.forward(tensors, KeepForBackward::kNo).outputs) {
    outputs.push_back(constant(std::move(output), name));
  }
  return outputs;
}

std::vector<Value> GraphBuilder::add_all(std::shared_ptr<const Op> op, std::vector<Value> inputs,
                                         std::string name) {
  std::vector<ValueType> types;
  bool varies = false, varies_by_integers = false;
  for (const Value input : inputs) {
    types.push_back(graph_.type(input));
    const bool integers = types.back().dtype == DType::kInt64;
    (integers ? varies_by_integers : varies) |= graph_.varies(input);
  }
  std::vector<ValueType> outputs;
  try {
    outputs = op->infer(types);
    for (const ValueType& output : outputs) check_size(output.shape);
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{} '{}': {}", op->kind(), name, error.what()));
  }
  if (folds(*op, inputs, types) && is_small_enough_to_fold(types, outputs))
    return folded(*op, inputs, name);
  const int index = static_cast<int>(graph_.nodes_.size());
  for (const Value input : inputs) graph_.users_[input.id].push_back(index);
  Node node{std::move(name), std::move(op), std::move(inputs), {}};
  for (ValueType& output : outputs) {
    const bool output_varies =
        node.op->depends_on() != DependsOn::kNothing &&
        (varies || (varies_by_integers && follows_integers(*node.op, output)));
    node.outputs.push_back(new_value(std::move(output), node.name, index, output_varies));
  }
  graph_.nodes_.push_back(std::move(node));
  return graph_.nodes_.back().outputs;
}

void GraphBuilder::read_instead(Value old, Value instead) {
  std::vector<bool> makes(graph_.nodes_.size(), false);
  const auto mark = [&](Value value) {
    if (graph_.producer(value) >= 0) makes[graph_.producer(value)] = true;
  };
  mark(instead);
  // Behind an earlier call what makes a value may stand behind it: until nothing is new.
  for (bool any = true; any;) {
    any = false;
    for (size_t index = makes.size(); index-- > 0;) {
      if (!makes[index]) continue;
      for (const Value input : graph_.nodes_[index].inputs) {
        const int producer = graph_.producer(input);
        any = any || (producer >= 0 && !makes[producer] && producer > static_cast<int>(index));
        mark(input);
      }
    }
  }
  std::vector<int> staying;
  for (const int user : graph_.users_[old.id]) {
    if (makes[user]) {
      staying.push_back(user);
      continue;
    }
    for (Value& input : graph_.nodes_[user].inputs) {
      if (input == old) input = instead;
    }
    graph_.users_[instead.id].push_back(user);
  }
  graph_.users_[old.id] = std::move(staying);
  is_sorted_ = false;
}

// Each node behind what makes its inputs, and otherwise where it was.
void GraphBuilder::sort_nodes() {
  const auto count = static_cast<int>(graph_.nodes_.size());
  std::vector<int> order, open;
  std::vector<bool> placed(count, false);
  for (int index = 0; index < count; ++index) {
    open.push_back(index);
    while (!open.empty()) {
      const int next = open.back();
      const size_t before = open.size();
      for (const Value input : graph_.nodes_[next].inputs) {
        const int producer = graph_.producer(input);
        if (producer >= 0 && !placed[producer]) open.push_back(producer);
      }
      if (open.size() > before) continue;
      open.pop_back();
      if (!placed[next]) order.push_back(next);
      placed[next] = true;
    }
  }
  std::vector<int> place(count);
  std::vector<Node> nodes;
  for (int index = 0; index < count; ++index) {
    place[order[index]] = index;
    nodes.push_back(std::move(graph_.nodes_[order[index]]));
  }
  graph_.nodes_ = std::move(nodes);
  for (int& producer : graph_.producers_) producer = producer < 0 ? -1 : place[producer];
  for (std::vector<int>& users : graph_.users_) {
    for (int& user : users) user = place[user];
    std::sort(users.begin(), users.end());
  }
  is_sorted_ = true;
}

Graph GraphBuilder::finish() {
  if (!is_sorted_) sort_nodes();
  choose_memory_orders(graph_.nodes_, graph_);
  graph_.pairs_.clear();
  for (const Node& node : graph_.nodes_) graph_.pairs_.push_back(pair_ending_at(graph_, node));
  return std::move(graph_);
}

}  // namespace whyformer
