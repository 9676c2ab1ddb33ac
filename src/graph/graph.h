// A model for concrete input shapes: operators in topological order, and the values between them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graph/op.h"

namespace whyformer {

// A handle to a value of one graph.
struct Value {
  int id = -1;
  bool valid() const { return id >= 0; }
  auto operator<=>(const Value&) const = default;
};

struct Node {
  std::string name;
  std::shared_ptr<const Op> op;
  std::vector<Value> inputs;
  std::vector<Value> outputs;
};

// A node and the only one before it that it may be computed with.
struct NodePair {
  int first = -1;
  std::shared_ptr<const OpPair> op;
  std::vector<Value> inputs;
};

class Graph {
 public:
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Value>& inputs() const { return inputs_; }
  int value_count() const { return static_cast<int>(types_.size()); }
  const ValueType& type(Value value) const { return types_[value.id]; }
  const Shape& shape(Value value) const { return types_[value.id].shape; }
  const std::string& name(Value value) const { return names_[value.id]; }
  // The node that makes the value, or -1 for an input.
  int producer(Value value) const { return producers_[value.id]; }
  // Whether it depends on an input that is explained, not only on constants, masks or positions.
  bool varies(Value value) const { return varies_[value.id]; }
  // Indices of the nodes that read the value.
  const std::vector<int>& users(Value value) const { return users_[value.id]; }
  // How a node is computed together with the one whose output it reads; null where it is not.
  const NodePair* pair_ending_at(size_t node) const {
    return pairs_[node].op == nullptr ? nullptr : &pairs_[node];
  }

 private:
  friend class GraphBuilder;
  std::vector<Node> nodes_;
  std::vector<Value> inputs_;
  std::vector<ValueType> types_;
  std::vector<std::string> names_;
  std::vector<int> producers_;
  std::vector<bool> varies_;
  std::vector<std::vector<int>> users_;
  std::vector<NodePair> pairs_;  // by node
};

// Whether an input is what is explained, or something that only goes with it, like a mask.
enum class InputRole { kExplained, kGiven };

// Whether operators on constants are computed while the graph is built.
enum class Folding { kNo, kYes };

class GraphBuilder {
 public:
  explicit GraphBuilder(Folding folding = Folding::kNo) : folding_(folding) {}
  // Goes on with a graph.
  GraphBuilder(Graph graph, Folding folding) : folding_(folding), graph_(std::move(graph)) {}

  Value input(std::string name, Shape shape, DType dtype, InputRole role = InputRole::kExplained);
  // Checks shapes now; an error names the node and both sizes.
  Value add(std::shared_ptr<const Op> op, std::vector<Value> inputs, std::string name);
  // The same for operators with several outputs.
  std::vector<Value> add_all(std::shared_ptr<const Op> op, std::vector<Value> inputs,
                             std::string name);
  Value constant(Tensor tensor, std::string name);
  // What reads `old` reads `instead` from now on, but for the nodes that make `instead`. Values
  // keep their ids; finish() puts nodes in order again.
  void read_instead(Value old, Value instead);
  // Another operator for a node, with outputs of the same types.
  void replace(size_t node, std::shared_ptr<const Op> op);

  // What the value is, where that is known while the graph is built; else null.
  const Tensor* known(Value value) const;
  // Whether it depends on an input that is explained.
  bool varies(Value value) const { return graph_.varies(value); }
  const Shape& shape(Value value) const { return graph_.shape(value); }
  const ValueType& type(Value value) const { return graph_.type(value); }
  Graph finish();

 private:
  void sort_nodes();
  Value new_value(ValueType type, std::string name, int producer, bool varies);
  bool folds(const Op& op, const std::vector<Value>& inputs, ValueTypes types) const;
  std::vector<Value> folded(const Op& op, const std::vector<Value>& inputs,
                            const std::string& name);

  Folding folding_;
  bool is_sorted_ = true;
  Graph graph_;
};

}  // namespace whyformer
