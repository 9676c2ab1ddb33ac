// Attention as exporters spell it: scales on either side of the product, masks added or chosen,
// heads kept in the batch axis.
#include <algorithm>
#include <cmath>

#include "onnx/rewrites/rewrite.h"
#include "ops/arithmetic.h"
#include "ops/helpers.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

bool only_reader(const Pattern& pattern, Value value) {
  return pattern.graph.users(value).size() == 1;
}

Value times(GraphBuilder& graph, Value x, double factor, const std::string& name) {
  Tensor number = Tensor::empty({}, graph.type(x).dtype);
  number.fill(factor);
  return binary(graph, x, graph.constant(number, name), BinaryFunction::kMultiply, name);
}

// Files store 1/√width, or roots of it, rounded to a float; where a scale is plainly that, it is
// meant.
double meant_scale(double scale, int64_t width) {
  const double usual = 1 / std::sqrt(static_cast<double>(width));
  return std::abs(scale - usual) < 1e-6 * usual ? usual : scale;
}

// (a·s)·(b·t) is s·t·(a·b): the factor moves behind the product, where the softmax takes it up.
std::optional<Replacement> scale_behind_product(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::MatMul>(*node.op)) return std::nullopt;
  Value a = node.inputs[0], b = node.inputs[1];
  double factor = 1;
  if (const auto scaled = pattern.scaled(a); scaled && only_reader(pattern, a)) {
    a = scaled->x;
    factor *= scaled->factor;
  }
  if (const auto scaled = pattern.scaled(b); scaled && only_reader(pattern, b)) {
    b = scaled->x;
    factor *= scaled->factor;
  }
  if (a == node.inputs[0] && b == node.inputs[1]) return std::nullopt;
  factor = meant_scale(factor, pattern.shape(a).back());
  return Replacement{
      {a, b},
      [factor](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        return times(graph, matmul(graph, inputs[0], inputs[1], name), factor, name);
      }};
}

bool is_view(const Op& op) { return is_a<ops::Reshape, ops::Transpose>(op); }

// Queries scaled before they are split into heads: the factor moves behind the views, to the
// product.
std::optional<Replacement> scale_behind_view(const Pattern& pattern, const Node& node) {
  const auto scaled = is_view(*node.op) ? pattern.scaled(node.inputs[0]) : std::nullopt;
  if (!scaled || !only_reader(pattern, node.inputs[0])) return std::nullopt;
  // Other factors, as that of a GELU, belong to what is before them.
  const Node* source = pattern.maker(scaled->x);
  if (source == nullptr || !(is_view(*source->op) || is_a<ops::Linear>(*source->op))) {
    return std::nullopt;
  }
  const std::shared_ptr<const Op> op = node.op;
  const double factor = scaled->factor;
  return Replacement{
      {scaled->x},
      [op, factor](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        return times(graph, graph.add(op, {inputs[0]}, name), factor, name);
      }};
}

// What stands between a softmax and its product.
struct MaskedScores {
  Value scores;
  double scale = 1;
  Value mask;             // added to the scaled scores; invalid for none
  bool negative = false;  // the mask is subtracted
  Value hidden;           // where not 0, `filling` replaces the score; invalid for none
  double filling = 0;
  bool shown = false;  // `hidden` says instead where the score stays
};

// A value that the mask may be: it does not depend on what is explained and does not widen the
// scores.
bool is_mask(const Pattern& pattern, Value mask, Value scores) {
  if (pattern.graph.varies(mask)) return false;
  try {
    return broadcast(pattern.shape(scores), pattern.shape(mask)) == pattern.shape(scores);
  } catch (const InvalidInput&) {
    return false;
  }
}

bool hides(double number) { return number <= -1e4; }

// Takes one mask off; false if there is none in front.
bool take_mask(const Pattern& pattern, MaskedScores& found) {
  const Node* node = pattern.maker(found.scores);
  if (node == nullptr || !pattern.graph.varies(found.scores)) return false;
  const bool subtracts = is_a<ops::Sub>(*node->op);
  if (subtracts || is_a<ops::Add>(*node->op)) {
    for (const int place : {1, 0}) {
      if (place == 0 && subtracts) continue;
      const Value scores = node->inputs[1 - place];
      if (pattern.shape(scores) != pattern.shape(found.scores)) continue;
      if (!pattern.graph.varies(scores) || !is_mask(pattern, node->inputs[place], scores)) continue;
      found.mask = node->inputs[place];
      found.negative = subtracts;
      found.scores = scores;
      return true;
    }
  }
  if (!is_a<ops::Where>(*node->op)) return false;
  for (const int place : {1, 2}) {
    const auto filling = pattern.number(node->inputs[place]);
    const Value scores = node->inputs[3 - place];
    if (!filling || !hides(*filling) || !is_mask(pattern, node->inputs[0], scores)) continue;
    if (pattern.shape(scores) != pattern.shape(found.scores)) continue;
    found.hidden = node->inputs[0];
    found.filling = *filling;
    found.shown = place == 2;
    found.scores = scores;
    return true;
  }
  return false;
}

Value built_mask(GraphBuilder& graph, const MaskedScores& found, std::span<const Value> inputs,
                 const std::string& name) {
  const DType dtype = graph.type(inputs[0]).dtype;
  const auto number = [&](double value) {
    Tensor tensor = Tensor::empty({}, dtype);
    tensor.fill(value);
    return graph.constant(tensor, name);
  };
  if (found.hidden.valid()) {
    return found.shown ? where(graph, inputs[1], number(0), number(found.filling), name)
                       : where(graph, inputs[1], number(found.filling), number(0), name);
  }
  if (found.negative) return unary(graph, inputs[1], UnaryFunction::kNegate, name);
  return inputs[1];
}

// One step per round: a mask, or a scale in front of no mask.
std::optional<Replacement> scaled_masked_softmax(const Pattern& pattern, const Node& node) {
  const auto* own = op_as<ops::Softmax>(*node.op);
  if (own == nullptr) return std::nullopt;
  MaskedScores found;
  found.scores = node.inputs[0];
  const double scale = own->scale();
  const Value known_mask = node.inputs.size() > 1 ? node.inputs[1] : Value{};
  if (const auto scaled = pattern.scaled(found.scores);
      scaled && std::isfinite(scaled->factor) && scaled->factor != 0) {
    std::vector<Value> inputs{scaled->x};
    if (known_mask.valid()) inputs.push_back(known_mask);
    double whole = scale * scaled->factor;
    if (const Node* product = pattern.made_by<ops::MatMul>(scaled->x)) {
      whole = meant_scale(whole, pattern.shape(product->inputs[0]).back());
    }
    return Replacement{
        inputs, [whole](GraphBuilder& graph, std::span<const Value> in, const std::string& name) {
          return softmax(graph, in[0], in.size() > 1 ? in[1] : Value{}, whole, name);
        }};
  }
  if (scale != 1 || !take_mask(pattern, found)) return std::nullopt;
  std::vector<Value> inputs{found.scores, found.hidden.valid() ? found.hidden : found.mask};
  if (known_mask.valid()) inputs.push_back(known_mask);
  return Replacement{
      inputs, [found](GraphBuilder& graph, std::span<const Value> in, const std::string& name) {
        Value mask = built_mask(graph, found, in, name);
        if (in.size() > 2) mask = add(graph, mask, in[2], name);
        return softmax(graph, in[0], mask, 1, name);
      }};
}

// Nothing is hidden.
std::optional<Replacement> empty_mask(const Pattern& pattern, const Node& node) {
  const auto* own = op_as<ops::Softmax>(*node.op);
  if (own == nullptr || node.inputs.size() < 2) return std::nullopt;
  const Tensor* mask = pattern.constant(node.inputs[1]);
  if (mask == nullptr) return std::nullopt;
  for (const double number : mask->to_doubles()) {
    if (number != 0) return std::nullopt;
  }
  const double scale = own->scale();
  return Replacement{
      {node.inputs[0]},
      [scale](GraphBuilder& graph, std::span<const Value> in, const std::string& name) {
        return softmax(graph, in[0], {}, scale, name);
      }};
}

// [batch · heads, …] as [batch, heads, …].
Shape with_heads(const Shape& shape, int64_t batch) {
  return {batch, shape[0] / batch, shape[1], shape[2]};
}

bool has_heads_in_batch(const Pattern& pattern, Value value) {
  return pattern.rank(value) == 3 && pattern.batch > 0 && pattern.shape(value)[0] > 0 &&
         pattern.shape(value)[0] % pattern.batch == 0;
}

// Files of static quantisation round between any two operators.
bool rounds(const Node& node) { return is_a<ops::QuantizeLinear, ops::DequantizeLinear>(*node.op); }

// Whether the value goes into a softmax, perhaps scaled, masked, reshaped or rounded on the way.
bool reaches_softmax(const Pattern& pattern, Value value, int steps) {
  for (const int user : pattern.graph.users(value)) {
    const Node& node = pattern.graph.nodes()[user];
    if (is_a<ops::Softmax>(*node.op)) return true;
    if (rounds(node) && reaches_softmax(pattern, node.outputs[0], steps)) return true;
    const bool passes =
        is_a<ops::Mul, ops::Div, ops::Add, ops::Sub, ops::Where, ops::Reshape>(*node.op);
    if (steps > 0 && passes && reaches_softmax(pattern, node.outputs[0], steps - 1)) return true;
  }
  return false;
}

// Whether a softmax is multiplied with something, as attention is.
bool reaches_product(const Pattern& pattern, Value value) {
  for (const int user : pattern.graph.users(value)) {
    const Node& node = pattern.graph.nodes()[user];
    if (is_a<ops::MatMul>(*node.op)) return true;
    const bool passes = is_a<ops::Reshape>(*node.op) || rounds(node);
    if (passes && reaches_product(pattern, node.outputs[0])) return true;
  }
  return false;
}

bool comes_from_softmax(const Pattern& pattern, Value value) {
  const Node* node = pattern.maker(value);
  while (node != nullptr && (is_a<ops::Reshape>(*node->op) || rounds(*node)))
    node = pattern.maker(node->inputs[0]);
  return node != nullptr && is_a<ops::Softmax>(*node->op);
}

// Products and softmaxes of attention whose heads lie in the batch axis, with an axis for heads.
std::optional<Replacement> heads_in_batch(const Pattern& pattern, const Node& node) {
  const Value value = node.outputs[0];
  if (!has_heads_in_batch(pattern, value)) return std::nullopt;
  const auto* own = op_as<ops::MatMul>(*node.op);
  const bool product = own != nullptr && (reaches_softmax(pattern, value, 6) ||
                                          comes_from_softmax(pattern, node.inputs[0]));
  const bool map = is_a<ops::Softmax>(*node.op) && reaches_product(pattern, value);
  if (!product && !map) return std::nullopt;
  std::vector<Shape> shapes;
  for (const Value input : node.inputs) {
    if (pattern.rank(input) != 3) return std::nullopt;
    const bool repeats = pattern.shape(input)[0] == 1 && pattern.shape(value)[0] != 1;
    if (repeats) {
      shapes.push_back({1, 1, pattern.shape(input)[1], pattern.shape(input)[2]});
    } else {
      shapes.push_back(with_heads(pattern.shape(input), pattern.batch));
    }
  }
  const Shape shape = pattern.shape(value);
  // An order of memory that was chosen for three axes says nothing about four.
  const std::shared_ptr<const Op> unordered = own != nullptr ? own->in_order({}) : nullptr;
  const std::shared_ptr<const Op> op = unordered != nullptr ? unordered : node.op;
  return Replacement{
      node.inputs,
      [shapes, shape, op](GraphBuilder& graph, std::span<const Value> in, const std::string& name) {
        std::vector<Value> inputs;
        for (size_t i = 0; i < in.size(); ++i) {
          inputs.push_back(reshape(graph, in[i], shapes[i], name));
        }
        return reshape(graph, graph.add(op, inputs, name), shape, name);
      }};
}

constexpr RewriteRule kRules[] = {scale_behind_product, scale_behind_view, scaled_masked_softmax,
                                  empty_mask, heads_in_batch};

}  // namespace

std::span<const RewriteRule> attention_rewrites() { return kRules; }

}  // namespace whyformer::onnx
