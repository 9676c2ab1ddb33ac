// Linear layers: biases added and scales multiplied by themselves, rows flattened and restored,
// packed projections.
#include <functional>
#include <numeric>

#include "onnx/rewrites/rewrite.h"
#include "ops/ops.h"
#include "ops/quantised.h"
#include "ops/scaled_rows.h"

namespace whyformer::onnx {
namespace {

// A Linear of floats: those of whole numbers are exact, which theirs would not be.
const Node* float_linear(const Pattern& pattern, Value value) {
  const Node* node = pattern.made_by<ops::Linear>(value);
  const bool whole = node != nullptr && (integer_weights_of(*node->op) != nullptr ||
                                         quantised_linear_parts(*node->op).has_value());
  return whole ? nullptr : node;
}

Replacement linear_node(Value x, std::shared_ptr<const LinearWeights> weights) {
  return {{x},
          [weights](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
            return linear(graph, inputs[0], weights, name);
          }};
}

std::optional<Replacement> bias_of_linear(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Add>(*node.op)) return std::nullopt;
  for (const int place : {0, 1}) {
    const Node* before = float_linear(pattern, node.inputs[place]);
    const Tensor* addend = pattern.constant(node.inputs[1 - place]);
    if (before == nullptr || addend == nullptr) continue;
    const LinearWeights& weights = *linear_weights(*before->op);
    const bool fits = addend->size() == weights.out_features() && addend->rank() > 0 &&
                      addend->dim(-1) == addend->size() &&
                      pattern.shape(node.outputs[0]) == pattern.shape(before->outputs[0]);
    if (!fits || weights.bias().defined()) continue;
    const Tensor bias = addend->reshape({addend->size()}).contiguous();
    return linear_node(before->inputs[0], pattern.share_linear(weights.weight(), bias));
  }
  return std::nullopt;
}

// The bias of a product with a single vector, which was a matrix of one row for the product.
std::optional<Replacement> bias_of_one_row(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Add>(*node.op) || pattern.rank(node.outputs[0]) != 1) return std::nullopt;
  for (const int place : {0, 1}) {
    const Node* view = pattern.made_by<ops::Reshape>(node.inputs[place]);
    const Node* before = view == nullptr ? nullptr : float_linear(pattern, view->inputs[0]);
    const Tensor* bias = pattern.constant(node.inputs[1 - place]);
    const Shape shape = pattern.shape(node.outputs[0]);
    if (before == nullptr || bias == nullptr || bias->shape() != shape ||
        pattern.shape(view->outputs[0]) != shape)
      continue;
    const LinearWeights& weights = *linear_weights(*before->op);
    if (weights.out_features() != shape[0] || weights.bias().defined()) continue;
    const auto shared = pattern.share_linear(weights.weight(), bias->contiguous());
    return Replacement{{before->inputs[0]},
                       [shared, shape](GraphBuilder& graph, std::span<const Value> inputs,
                                       const std::string& name) {
                         return reshape(graph, linear(graph, inputs[0], shared, name), shape, name);
                       }};
  }
  return std::nullopt;
}

// Outputs that are scaled one by one (LayerScale): the scale becomes part of the weights, as it
// does for a folder.
std::optional<Replacement> scale_of_linear(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Mul>(*node.op)) return std::nullopt;
  for (const int place : {0, 1}) {
    const Node* before = float_linear(pattern, node.inputs[place]);
    const Tensor* scale = pattern.constant(node.inputs[1 - place]);
    if (before == nullptr || scale == nullptr || before->inputs.size() != 1) continue;
    const LinearWeights& weights = *linear_weights(*before->op);
    const bool fits = scale->size() == weights.out_features() && scale->size() > 1 &&
                      scale->dim(-1) == scale->size() &&
                      scale->dtype() == weights.weight().dtype() &&
                      pattern.shape(node.outputs[0]) == pattern.shape(before->outputs[0]) &&
                      pattern.graph.users(before->outputs[0]).size() == 1;
    if (!fits) continue;
    const Tensor factors = scale->reshape({scale->size()}).contiguous();
    const Tensor bias = weights.bias().defined() ? scaled_rows(weights.bias(), factors) : Tensor();
    return linear_node(before->inputs[0],
                       pattern.share_linear(scaled_rows(weights.weight(), factors), bias));
  }
  return std::nullopt;
}

int64_t product(std::span<const int64_t> lengths) {
  return std::accumulate(lengths.begin(), lengths.end(), int64_t{1}, std::multiplies<>());
}

// Reshape → Linear → Reshape: rows that were flattened for the product only stay as they are to be
// afterwards, however the last axis is split then.
std::optional<Replacement> linear_of_flat_rows(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Reshape>(*node.op)) return std::nullopt;
  const Node* before = pattern.made_by<ops::Linear>(node.inputs[0]);
  const bool alone = before != nullptr && before->inputs.size() == 1;
  const Node* flattened = alone ? pattern.made_by<ops::Reshape>(before->inputs[0]) : nullptr;
  if (flattened == nullptr) return std::nullopt;
  const Shape shape = pattern.shape(node.outputs[0]);
  if (shape.empty()) return std::nullopt;
  const Shape& flat = pattern.shape(before->inputs[0]);
  const int64_t features = pattern.shape(before->outputs[0]).back();
  Shape rows = shape;
  while (!rows.empty() && product(std::span(shape).subspan(rows.size())) != features)
    rows.pop_back();
  if (rows.size() == shape.size()) rows.pop_back();  // one feature, and no axis for it
  if (rows.size() < flat.size() || product(rows) * features != product(shape)) return std::nullopt;
  rows.push_back(flat.back());
  const std::shared_ptr<const Op> op = before->op;
  return Replacement{{flattened->inputs[0]},
                     [op, rows, shape](GraphBuilder& graph, std::span<const Value> inputs,
                                       const std::string& name) {
                       const bool same = graph.shape(inputs[0]) == rows;
                       const Value x = same ? inputs[0] : reshape(graph, inputs[0], rows, name);
                       const Value y = graph.add(op, {x}, name);
                       return graph.shape(y) == shape ? y : reshape(graph, y, shape, name);
                     }};
}

// Where rows of a Reshape's output lie in its input; nothing where it spreads them.
std::optional<SlicedRows> before_reshape(const SlicedRows& part, const Shape& from,
                                         const Shape& to) {
  const int64_t outer = product(std::span(to).first(part.axis));
  const int64_t inner = product(std::span(to).subspan(part.axis + 1));
  for (size_t axis = 0; axis < from.size(); ++axis) {
    const int64_t below = product(std::span(from).subspan(axis + 1));
    if (product(std::span(from).first(axis)) != outer || below == 0 || inner % below != 0) continue;
    const int64_t each = inner / below;
    if (from[axis] != to[part.axis] * each) continue;
    return SlicedRows{static_cast<int>(axis), part.start * each, part.length * each};
  }
  return std::nullopt;
}

// A view between a Linear and a slice of it: for the slice alone, that order or that shape.
struct ViewOfLinear {
  std::vector<int> order;  // of a transposition
  Shape shape;             // of a Reshape
};

// Some columns of a Linear that is only read in parts: q, k and v from one projection, perhaps with
// an axis of their own ([…, 3, heads, width]) and moved to the front.
std::optional<Replacement> part_of_linear(const Pattern& pattern, const Node& node) {
  const auto rows = sliced_rows(*node.op);
  if (!rows) return std::nullopt;
  Value value = node.inputs[0];
  for (const int user : pattern.graph.users(value)) {
    const auto other = sliced_rows(*pattern.graph.nodes()[user].op);
    if (!other || other->axis != rows->axis) return std::nullopt;
  }
  SlicedRows part = *rows;
  std::vector<ViewOfLinear> views;
  const Node* maker = pattern.maker(value);
  for (; maker != nullptr && !is_a<ops::Linear>(*maker->op); maker = pattern.maker(value)) {
    const std::vector<int> order = axis_order(*maker->op);
    if (!order.empty()) {
      views.push_back({order, {}});
      part.axis = order[part.axis];
    } else if (is_a<ops::Reshape>(*maker->op)) {
      views.push_back({{}, pattern.shape(value)});
      views.back().shape[part.axis] = part.length;
      const auto before =
          before_reshape(part, pattern.shape(maker->inputs[0]), pattern.shape(value));
      if (!before) return std::nullopt;
      part = *before;
    } else {
      return std::nullopt;
    }
    value = maker->inputs[0];
    if (pattern.graph.users(value).size() != 1) return std::nullopt;
  }
  maker = float_linear(pattern, value);
  if (maker == nullptr || part.axis != pattern.rank(value) - 1) return std::nullopt;
  const LinearWeights& weights = *linear_weights(*maker->op);
  const Tensor columns = weights.weight().slice(0, part.start, part.length);
  const Tensor bias =
      weights.bias().defined() ? weights.bias().slice(0, part.start, part.length) : Tensor();
  const auto shared = pattern.share_linear(columns, bias);
  return Replacement{
      {maker->inputs[0]},
      [shared, views](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        Value y = linear(graph, inputs[0], shared, name);
        for (size_t i = views.size(); i-- > 0;) {
          y = views[i].order.empty() ? reshape(graph, y, views[i].shape, name)
                                     : transpose(graph, y, views[i].order, name);
        }
        return y;
      }};
}

constexpr RewriteRule kRules[] = {bias_of_linear, bias_of_one_row, scale_of_linear,
                                  linear_of_flat_rows, part_of_linear};

}  // namespace

std::span<const RewriteRule> linear_rewrites() { return kRules; }

}  // namespace whyformer::onnx
