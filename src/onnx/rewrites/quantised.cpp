// Linears whose input is rounded to 8 bits while the model runs: rounding, whole product, scales
// and bias become one operator, which is a Linear to relevance rules and to methods that take
// layers apart.
#include "ops/quantised.h"
#include "onnx/rewrites/rewrite.h"
#include "ops/integer_weights.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// The value behind changes of shape or of the float's width, which single numbers come through.
Value behind_views(const Pattern& pattern, Value value) {
  const Node* node = pattern.maker(value);
  while (node != nullptr && is_a<ops::Reshape, ops::Cast>(*node->op)) {
    value = node->inputs[0];
    node = pattern.maker(value);
  }
  return value;
}

// What rounds an input to the span it has: x, and the two numbers that say how.
struct Rounded {
  Value x, step, zero;
};

// x rounded and moved so that 0 is 0 again.
std::optional<Rounded> rounded(const Pattern& pattern, Value value) {
  const Node* centred = pattern.made_by<ops::DequantizeLinear>(value);
  if (centred == nullptr || centred->inputs.size() != 2) return std::nullopt;
  const Node* quantised = pattern.made_by<ops::QuantizeLinear>(centred->inputs[0]);
  if (quantised == nullptr || quantised->inputs.size() != 3) return std::nullopt;
  const Rounded found{quantised->inputs[0], behind_views(pattern, quantised->inputs[1]),
                      behind_views(pattern, quantised->inputs[2])};
  const Node* span = pattern.made_by<ops::DynamicScale>(found.step);
  const bool whole = span != nullptr && span->inputs[0] == found.x &&
                     found.step == span->outputs[0] && found.zero == span->outputs[1] &&
                     behind_views(pattern, centred->inputs[1]) == found.zero;
  return whole ? std::optional(found) : std::nullopt;
}

// The constant c where the value is step · c.
const Tensor* scales_of(const Pattern& pattern, Value factor, Value step) {
  const Node* product = pattern.made_by<ops::Mul>(behind_views(pattern, factor));
  if (product == nullptr) return nullptr;
  for (const int place : {0, 1}) {
    const Tensor* scales = pattern.constant(product->inputs[1 - place]);
    if (scales != nullptr && behind_views(pattern, product->inputs[place]) == step) return scales;
  }
  return nullptr;
}

// Rounding → whole product → times both scales.
std::optional<Replacement> linear_of_rounded(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Mul, ops::DequantizeLinear>(*node.op) || node.inputs.size() != 2)
    return std::nullopt;
  for (const int place : {0, 1}) {
    Value sums = node.inputs[place];
    if (const Node* cast = pattern.made_by<ops::Cast>(sums)) sums = cast->inputs[0];
    const Node* product = pattern.made_by<ops::Linear>(sums);
    const auto weights = product ? integer_weights_of(*product->op) : nullptr;
    if (weights == nullptr) continue;
    const auto found = rounded(pattern, product->inputs[0]);
    const Tensor* scales =
        found ? scales_of(pattern, node.inputs[1 - place], found->step) : nullptr;
    if (scales == nullptr) continue;
    const bool fits = scales->size() == 1 || (scales->size() == weights->linear().out_features() &&
                                              scales->dim(-1) == scales->size());
    if (!fits || pattern.shape(node.outputs[0]) != pattern.shape(sums)) continue;
    const Tensor factors = *scales;
    return Replacement{
        {found->x},
        [weights, factors](GraphBuilder& graph, std::span<const Value> x, const std::string& name) {
          return quantised_linear(graph, x[0], weights, factors, Tensor(), name);
        }};
  }
  return std::nullopt;
}

std::optional<Replacement> bias_of_quantised_linear(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Add>(*node.op)) return std::nullopt;
  for (const int place : {0, 1}) {
    const Node* before = pattern.made_by<ops::Linear>(node.inputs[place]);
    const auto parts = before ? quantised_linear_parts(*before->op) : std::nullopt;
    const Tensor* bias = pattern.constant(node.inputs[1 - place]);
    if (!parts || bias == nullptr || linear_weights(*before->op)->bias().defined()) continue;
    const int64_t columns = parts->weights->linear().out_features();
    if (bias->size() != columns || bias->rank() == 0 || bias->dim(-1) != columns ||
        pattern.shape(node.outputs[0]) != pattern.shape(before->outputs[0])) {
      continue;
    }
    const Tensor addend = bias->reshape({columns}).contiguous();
    return Replacement{{before->inputs[0]},
                       [parts = *parts, addend](GraphBuilder& graph, std::span<const Value> x,
                                                const std::string& name) {
                         return quantised_linear(graph, x[0], parts.weights, parts.scales, addend,
                                                 name);
                       }};
  }
  return std::nullopt;
}

// Some columns of one that is only read in parts: q, k and v from one projection.
std::optional<Replacement> part_of_quantised_linear(const Pattern& pattern, const Node& node) {
  const auto columns = sliced_rows(*node.op);
  if (!columns || columns->axis != pattern.rank(node.inputs[0]) - 1) return std::nullopt;
  const Node* whole = pattern.made_by<ops::Linear>(node.inputs[0]);
  const auto parts = whole ? quantised_linear_parts(*whole->op) : std::nullopt;
  if (!parts) return std::nullopt;
  const auto weights = parts->weights->rows(columns->start, columns->length);
  Tensor scales = parts->scales, bias = linear_weights(*whole->op)->bias();
  for (Tensor* numbers : {&scales, &bias}) {
    if (!numbers->defined() || (numbers == &scales && numbers->size() == 1)) continue;
    *numbers = numbers->slice(0, columns->start, columns->length).contiguous();
  }
  return Replacement{{whole->inputs[0]},
                     [weights, scales, bias](GraphBuilder& graph, std::span<const Value> x,
                                             const std::string& name) {
                       return quantised_linear(graph, x[0], weights, scales, bias, name);
                     }};
}

constexpr RewriteRule kRules[] = {linear_of_rounded, bias_of_quantised_linear,
                                  part_of_quantised_linear};

}  // namespace

std::span<const RewriteRule> quantised_rewrites() { return kRules; }

}  // namespace whyformer::onnx
