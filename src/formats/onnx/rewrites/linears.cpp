// Linear layers: biases added by themselves, rows flattened and restored, packed projections.
#include <algorithm>

#include "formats/onnx/rewrites/rewrite.h"
#include "ops/ops.h"
#include "ops/quantised.h"

namespace whyformer::onnx {
namespace {

// A Linear of floats: those of whole numbers are exact, which theirs would not be.
const Node* float_linear(const Pattern& pattern, Value value) {
  const Node* node = pattern.made_by(value, "Linear");
  const bool whole = node != nullptr && (integer_weights_of(*node->op) != nullptr ||
                                         quantised_linear_parts(*node->op).has_value());
  return whole ? nullptr : node;
}

Replacement linear_node(Value x, std::shared_ptr<const LinearWeights> weights) {
  return {{x}, [weights](GraphBuilder& graph, std::span<const Value> inputs,
                         const std::string& name) {
            return linear(graph, inputs[0], weights, name);
          }};
}

std::optional<Replacement> bias_of_linear(const Pattern& pattern, const Node& node) {
  if (node.op->kind() != "Add") return std::nullopt;
  for (const int place : {0, 1}) {
    const Node* before = float_linear(pattern, node.inputs[place]);
    const Tensor* addend = pattern.constant(node.inputs[1 - place]);
    if (before == nullptr || addend == nullptr) continue;
    const LinearWeights& weights = *before->op->linear_weights();
    const bool fits = addend->size() == weights.out_features() && addend->rank() > 0 &&
                      addend->dim(-1) == addend->size() &&
                      pattern.shape(node.outputs[0]) == pattern.shape(before->outputs[0]);
    if (!fits || weights.bias().defined()) continue;
    const Tensor bias = addend->reshape({addend->size()}).contiguous();
    return linear_node(before->inputs[0], pattern.share_linear(weights.weight(), bias));
  }
  return std::nullopt;
}

// Reshape → Linear → Reshape, where only the axes in front of the last are flattened and restored; the
// last may be split into heads.
std::optional<Replacement> linear_of_flat_rows(const Pattern& pattern, const Node& node) {
  if (node.op->kind() != "Reshape") return std::nullopt;
  const Node* before = pattern.made_by(node.inputs[0], "Linear");
  const Node* flattened = before ? pattern.made_by(before->inputs[0], "Reshape") : nullptr;
  if (flattened == nullptr) return std::nullopt;
  const Shape& source = pattern.shape(flattened->inputs[0]);
  const Shape shape = pattern.shape(node.outputs[0]);
  if (source.empty() || source.back() != pattern.shape(before->inputs[0]).back()) return std::nullopt;
  const bool restores = shape.size() >= source.size() &&
                        std::equal(source.begin(), source.end() - 1, shape.begin());
  if (!restores) return std::nullopt;
  const std::shared_ptr<const Op> op = before->op;
  return Replacement{{flattened->inputs[0]},
                     [op, shape](GraphBuilder& graph, std::span<const Value> inputs,
                                 const std::string& name) {
                       const Value y = graph.add(op, {inputs[0]}, name);
                       return graph.shape(y) == shape ? y : reshape(graph, y, shape, name);
                     }};
}

// Some columns of a Linear that is only read in parts: q, k and v from one projection.
std::optional<Replacement> part_of_linear(const Pattern& pattern, const Node& node) {
  const auto columns = node.op->sliced_rows();
  if (!columns || columns->axis != pattern.rank(node.inputs[0]) - 1) return std::nullopt;
  const Node* whole = float_linear(pattern, node.inputs[0]);
  if (whole == nullptr) return std::nullopt;
  for (const int user : pattern.graph.users(whole->outputs[0])) {
    const auto other = pattern.graph.nodes()[user].op->sliced_rows();
    if (!other || other->axis != columns->axis) return std::nullopt;
  }
  const LinearWeights& weights = *whole->op->linear_weights();
  const Tensor rows = weights.weight().slice(0, columns->start, columns->length);
  const Tensor bias = weights.bias().defined()
                          ? weights.bias().slice(0, columns->start, columns->length)
                          : Tensor();
  return linear_node(whole->inputs[0], pattern.share_linear(rows, bias));
}

constexpr RewriteRule kRules[] = {bias_of_linear, linear_of_flat_rows, part_of_linear};

}  // namespace

std::span<const RewriteRule> linear_rewrites() { return kRules; }

}  // namespace whyformer::onnx
