// Recognises what exporters spell out (norms, activations, biases, scaled and masked softmaxes) and
// puts our operator in its place, so that speed and relevance rules are those of any other model.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/ops.h"

namespace whyformer::onnx {

// Weights of a Linear, shared with other graphs of the model where they can be.
using ShareLinear =
    std::function<std::shared_ptr<const LinearWeights>(const Tensor& weight, const Tensor& bias)>;

// Reading patterns in a graph.
class Pattern {
 public:
  Pattern(const Graph& graph, int64_t batch, ShareLinear share_linear)
      : graph(graph), batch(batch), share_linear(std::move(share_linear)) {}

  const Node* maker(Value value) const;  // null for inputs
  // The node that makes the value if its operator is of that type, else null.
  template <class Type>
  const Node* made_by(Value value) const {
    const Node* node = maker(value);
    return node != nullptr && is_a<Type>(*node->op) ? node : nullptr;
  }
  const Tensor* constant(Value value) const;
  std::optional<double> number(Value value) const;   // a constant with one element
  bool is_number(Value value, double wanted) const;  // to six digits, as files store it
  // The other operand of a two-operand node, where one of them is `operand` (in either place).
  std::optional<Value> other_operand(const Node& node, Value operand) const;
  // x where `node` multiplies x by a constant number or divides it by one, and that factor.
  struct Scaled {
    Value x;
    double factor = 1;
  };
  std::optional<Scaled> scaled(Value value) const;
  const Shape& shape(Value value) const { return graph.shape(value); }
  int rank(Value value) const { return static_cast<int>(shape(value).size()); }

  const Graph& graph;
  const int64_t batch;  // how many inputs the graph takes at once
  const ShareLinear share_linear;
};

// What takes the place of a node's first output: built from other values of the old graph.
struct Replacement {
  std::vector<Value> inputs;
  std::function<Value(GraphBuilder&, std::span<const Value> inputs, const std::string& name)> build;
};

using RewriteRule = std::optional<Replacement> (*)(const Pattern& pattern, const Node& node);

std::span<const RewriteRule> plain_rewrites();       // no-ops, views of views
std::span<const RewriteRule> linear_rewrites();      // biases, packed projections
std::span<const RewriteRule> quantised_rewrites();   // Linears of rounded numbers
std::span<const RewriteRule> norm_rewrites();        // LayerNorm, RMSNorm, means
std::span<const RewriteRule> activation_rewrites();  // GELUs, SiLU
std::span<const RewriteRule> attention_rewrites();   // heads in the batch axis, scales, masks

struct Rewritten {
  Graph graph;
  std::vector<Value> new_value;  // by old id; invalid where a value is no more
};

// The same graph with the batch in front as far as possible (see late_views.cpp).
Rewritten with_late_views(const Graph& graph, const std::vector<Value>& wanted);

// Applies every rule until none fits; what none of the `wanted` values needs is dropped. All inputs
// of the graph stay.
Rewritten rewrite(const Graph& graph, const std::vector<Value>& wanted, int64_t batch,
                  const ShareLinear& share_linear);

}  // namespace whyformer::onnx
