// Nodes that do nothing, and views of views.
#include <algorithm>

#include "formats/onnx/rewrites/rewrite.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

Replacement same_as(Value value) {
  return {{value}, [](GraphBuilder&, std::span<const Value> inputs, const std::string&) {
            return inputs[0];
          }};
}

bool all_equal(const Tensor& tensor, double wanted) {
  const std::vector<double> numbers = tensor.to_doubles();
  return std::all_of(numbers.begin(), numbers.end(), [&](double x) { return x == wanted; });
}

// x + 0, x - 0, x · 1, x / 1, with a constant of any shape.
std::optional<Replacement> neutral_operand(const Pattern& pattern, const Node& node) {
  const std::string_view kind = node.op->kind();
  const bool sum = kind == "Add" || kind == "Sub";
  const bool product = kind == "Mul" || kind == "Div";
  if (!sum && !product) return std::nullopt;
  const bool commutes = kind == "Add" || kind == "Mul";
  for (const int place : {1, 0}) {
    if (place == 0 && !commutes) continue;
    const Tensor* constant = pattern.constant(node.inputs[place]);
    const Value x = node.inputs[1 - place];
    if (constant == nullptr || pattern.shape(x) != pattern.shape(node.outputs[0])) continue;
    if (all_equal(*constant, sum ? 0 : 1)) return same_as(x);
  }
  return std::nullopt;
}

std::optional<Replacement> reshape_of_reshape(const Pattern& pattern, const Node& node) {
  if (node.op->kind() != "Reshape") return std::nullopt;
  const Shape shape = pattern.shape(node.outputs[0]);
  if (pattern.shape(node.inputs[0]) == shape) return same_as(node.inputs[0]);
  const Node* before = pattern.made_by(node.inputs[0], "Reshape");
  if (before == nullptr) return std::nullopt;
  if (pattern.shape(before->inputs[0]) == shape) return same_as(before->inputs[0]);
  return Replacement{{before->inputs[0]},
                     [shape](GraphBuilder& graph, std::span<const Value> inputs,
                             const std::string& name) {
                       return reshape(graph, inputs[0], shape, name);
                     }};
}

std::optional<Replacement> transpose_of_transpose(const Pattern& pattern, const Node& node) {
  const std::vector<int> outer = node.op->axis_order();
  if (outer.empty()) return std::nullopt;
  const Node* before = pattern.maker(node.inputs[0]);
  if (before == nullptr) return std::nullopt;
  const std::vector<int> inner = before->op->axis_order();
  if (inner.empty()) return std::nullopt;
  std::vector<int> order;
  for (const int axis : outer) order.push_back(inner[axis]);
  if (std::is_sorted(order.begin(), order.end())) return same_as(before->inputs[0]);
  return Replacement{{before->inputs[0]},
                     [order](GraphBuilder& graph, std::span<const Value> inputs,
                             const std::string& name) {
                       return transpose(graph, inputs[0], order, name);
                     }};
}

// A softmax gives 0 where everything is hidden, so nothing is left to repair behind it.
std::optional<Replacement> repaired_softmax(const Pattern& pattern, const Node& node) {
  if (node.op->kind() != "Where") return std::nullopt;
  const Value p = node.inputs[2];
  const Node* is_nan = pattern.made_by(node.inputs[0], "IsNaN");
  const Node* softmax = pattern.maker(p);
  if (is_nan == nullptr || is_nan->inputs[0] != p || softmax == nullptr ||
      !softmax->op->is_softmax()) {
    return std::nullopt;
  }
  const Tensor* otherwise = pattern.constant(node.inputs[1]);
  if (otherwise == nullptr || !all_equal(*otherwise, 0)) return std::nullopt;
  return same_as(p);
}

constexpr RewriteRule kRules[] = {neutral_operand, reshape_of_reshape, transpose_of_transpose,
                                  repaired_softmax};

}  // namespace

std::span<const RewriteRule> plain_rewrites() { return kRules; }

}  // namespace whyformer::onnx
