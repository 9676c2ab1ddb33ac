// LayerNorm, RMSNorm and unit length written out, and means over one axis.
#include <algorithm>
#include <cmath>

#include "onnx/rewrites/rewrite.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// x where the value is mean(x) over the last axis, which stays.
std::optional<Value> mean_of_last_axis(const Pattern& pattern, Value value) {
  const Node* node = pattern.made_by<ops::ReduceMean>(value);
  if (node == nullptr) return std::nullopt;
  const Value x = node->inputs[0];
  const bool keeps = pattern.rank(value) == pattern.rank(x);
  if (!keeps || reduced_axes(*node->op) != std::vector<int>{pattern.rank(x) - 1}) {
    return std::nullopt;
  }
  return x;
}

// x where the value is x², as a power or a product.
std::optional<Value> squared(const Pattern& pattern, Value value) {
  if (const Node* power = pattern.made_by<ops::Pow>(value)) {
    if (pattern.is_number(power->inputs[1], 2)) return power->inputs[0];
  }
  if (const Node* product = pattern.made_by<ops::Mul>(value)) {
    if (product->inputs[0] == product->inputs[1]) return product->inputs[0];
  }
  return std::nullopt;
}

// x where the value is x - mean(x).
std::optional<Value> centred(const Pattern& pattern, Value value) {
  const Node* node = pattern.made_by<ops::Sub>(value);
  if (node == nullptr) return std::nullopt;
  const auto x = mean_of_last_axis(pattern, node->inputs[1]);
  return x && *x == node->inputs[0] ? x : std::nullopt;
}

// v and epsilon where the value is √(mean(v²) + epsilon).
struct Deviation {
  Value of;
  double epsilon = 0;
};
std::optional<Deviation> deviation(const Pattern& pattern, Value value) {
  Value sum;
  if (const Node* root = pattern.made_by<ops::Sqrt>(value)) {
    sum = root->inputs[0];
  } else if (const Node* power = pattern.made_by<ops::Pow>(value);
             power != nullptr && pattern.is_number(power->inputs[1], 0.5)) {
    sum = power->inputs[0];
  } else {
    return std::nullopt;
  }
  const Node* add = pattern.made_by<ops::Add>(sum);
  if (add == nullptr) return std::nullopt;
  for (const int place : {0, 1}) {
    const auto epsilon = pattern.number(add->inputs[place]);
    if (!epsilon) continue;
    const auto squares = mean_of_last_axis(pattern, add->inputs[1 - place]);
    const auto v = squares ? squared(pattern, *squares) : std::nullopt;
    if (v) return Deviation{*v, *epsilon};
  }
  return std::nullopt;
}

// v / √(mean(v²) + epsilon), as a quotient or a product with the reciprocal.
struct Normalised {
  Value v;
  Deviation by;
};
std::optional<Normalised> normalised(const Pattern& pattern, Value value) {
  if (const Node* quotient = pattern.made_by<ops::Div>(value)) {
    if (const auto by = deviation(pattern, quotient->inputs[1])) {
      return Normalised{quotient->inputs[0], *by};
    }
  }
  const Node* product = pattern.made_by<ops::Mul>(value);
  if (product == nullptr) return std::nullopt;
  for (const int place : {0, 1}) {
    const Value factor = product->inputs[place];
    std::optional<Deviation> by;
    if (const Node* reciprocal = pattern.made_by<ops::Reciprocal>(factor)) {
      by = deviation(pattern, reciprocal->inputs[0]);
    } else if (const Node* quotient = pattern.made_by<ops::Div>(factor);
               quotient != nullptr && pattern.is_number(quotient->inputs[0], 1)) {
      by = deviation(pattern, quotient->inputs[1]);
    }
    if (by) return Normalised{product->inputs[1 - place], *by};
  }
  return std::nullopt;
}

// A norm of x, of either kind.
struct MatchedNorm {
  Value x;
  double epsilon = 0;
  bool centres = false;
};
std::optional<MatchedNorm> norm(const Pattern& pattern, Value value) {
  const auto found = normalised(pattern, value);
  if (!found) return std::nullopt;
  if (found->v == found->by.of) {
    const auto x = centred(pattern, found->v);
    if (x) return MatchedNorm{*x, found->by.epsilon, true};
    return MatchedNorm{found->v, found->by.epsilon, false};
  }
  // Some exporters subtract the mean twice.
  const auto x = centred(pattern, found->v);
  if (x && centred(pattern, found->by.of) == x) return MatchedNorm{*x, found->by.epsilon, true};
  return std::nullopt;
}

// One number per column, or nothing.
const Tensor* columns(const Pattern& pattern, Value value, int64_t count) {
  const Tensor* tensor = pattern.constant(value);
  const bool fits = tensor != nullptr && tensor->size() == count &&
                    (tensor->rank() == 0 || tensor->dim(-1) == count);
  return fits ? tensor : nullptr;
}

struct ScaledNorm {
  MatchedNorm norm;
  Tensor weight;
};
std::optional<ScaledNorm> scaled_norm(const Pattern& pattern, Value value) {
  const int64_t count = pattern.rank(value) == 0 ? 1 : pattern.shape(value).back();
  if (const Node* product = pattern.made_by<ops::Mul>(value)) {
    for (const int place : {0, 1}) {
      const Tensor* weight = columns(pattern, product->inputs[place], count);
      const auto found =
          weight ? norm(pattern, product->inputs[1 - place]) : std::optional<MatchedNorm>();
      if (found) return ScaledNorm{*found, weight->reshape({count})};
    }
  }
  const auto found = norm(pattern, value);
  if (!found) return std::nullopt;
  Tensor ones = Tensor::empty({count}, pattern.graph.type(value).dtype);
  ones.fill(1);
  return ScaledNorm{*found, ones};
}

Replacement norm_node(const ScaledNorm& found, const Tensor& bias) {
  return {{found.norm.x},
          [found, bias](GraphBuilder& graph, std::span<const Value> x, const std::string& name) {
            if (!found.norm.centres) {
              return rms_norm(graph, x[0], found.weight, found.norm.epsilon, name);
            }
            return layer_norm(graph, x[0], {found.weight.contiguous(), bias, found.norm.epsilon},
                              name);
          }};
}

std::optional<Replacement> written_out_norm(const Pattern& pattern, const Node& node) {
  const Value value = node.outputs[0];
  if (pattern.rank(value) == 0) return std::nullopt;
  const int64_t count = pattern.shape(value).back();
  if (is_a<ops::Add>(*node.op)) {
    for (const int place : {0, 1}) {
      const Tensor* bias = columns(pattern, node.inputs[place], count);
      const auto found =
          bias ? scaled_norm(pattern, node.inputs[1 - place]) : std::optional<ScaledNorm>();
      if (found && found->norm.centres)
        return norm_node(*found, bias->reshape({count}).contiguous());
    }
    return std::nullopt;
  }
  if (!is_a<ops::Mul, ops::Div>(*node.op)) return std::nullopt;
  const auto found = scaled_norm(pattern, value);
  if (!found) return std::nullopt;
  return norm_node(*found, Tensor::zeros({count}, pattern.graph.type(value).dtype));
}

// A LayerNorm without a bias followed by one, where the exporter adds it by itself.
std::optional<Replacement> bias_of_norm(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Add>(*node.op)) return std::nullopt;
  for (const int place : {0, 1}) {
    const Node* before = pattern.made_by<ops::LayerNorm>(node.inputs[place]);
    if (before == nullptr) continue;
    const LayerNormWeights weights = *layer_norm_weights(*before->op);
    const Tensor* bias = columns(pattern, node.inputs[1 - place], weights.weight.size());
    if (bias == nullptr) continue;
    for (const double number : weights.bias.to_doubles()) {
      if (number != 0) return std::nullopt;
    }
    const Tensor added = bias->reshape({bias->size()}).contiguous();
    return Replacement{
        {before->inputs[0]},
        [weights, added](GraphBuilder& graph, std::span<const Value> x, const std::string& name) {
          return layer_norm(graph, x[0], {weights.weight, added, weights.epsilon}, name);
        }};
  }
  return std::nullopt;
}

// A mean over one axis which is no part of a norm: how texts and pictures are read out.
Replacement mean_node(Value x, int axis, const Shape& shape) {
  return {
      {x},
      [axis, shape](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        const Value result = mean(graph, inputs[0], axis, name);
        return graph.shape(result) == shape ? result : reshape(graph, result, shape, name);
      }};
}

std::optional<Replacement> mean_over_one_axis(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::ReduceMean>(*node.op)) return std::nullopt;
  const Value x = node.inputs[0];
  const std::vector<int> axes = reduced_axes(*node.op);
  const bool whole_numbers = pattern.graph.type(x).dtype == DType::kInt64;
  if (axes.size() != 1 || axes[0] == pattern.rank(x) - 1 || whole_numbers) return std::nullopt;
  return mean_node(x, axes[0], pattern.shape(node.outputs[0]));
}

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

// Whether only the last axis is averaged, apart from axes of length 1.
bool averages_last(const Pattern& pattern, const Node& node) {
  const Shape& shape = pattern.shape(node.inputs[0]);
  const std::vector<int> axes = reduced_axes(*node.op);
  if (axes.empty() || axes.back() != static_cast<int>(shape.size()) - 1) return false;
  return std::all_of(axes.begin(), axes.end() - 1, [&](int axis) { return shape[axis] == 1; });
}

// The same of channels first, where the tokens were moved behind them: pooling as pictures have it.
std::optional<Replacement> mean_over_moved_axis(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::ReduceMean>(*node.op) || !averages_last(pattern, node)) return std::nullopt;
  Value x = node.inputs[0];
  if (const Node* view = pattern.made_by<ops::Reshape>(x)) {
    const Shape& from = pattern.shape(view->inputs[0]);
    const bool adds_ones = without_ones(from) == without_ones(pattern.shape(x)) && !from.empty() &&
                           from.back() == pattern.shape(x).back();
    if (adds_ones) x = view->inputs[0];
  }
  const Node* moved = pattern.maker(x);
  std::vector<int> order = moved ? axis_order(*moved->op) : std::vector<int>();
  if (order.empty()) return std::nullopt;
  for (const int user : pattern.graph.users(node.outputs[0])) {  // else it may be part of a norm
    const Op& reader = *pattern.graph.nodes()[user].op;
    if (!reader.moves_data() && !is_a<ops::Linear>(reader)) return std::nullopt;
  }
  const int axis = order.back();
  order.pop_back();
  if (!std::is_sorted(order.begin(), order.end())) return std::nullopt;
  return mean_node(moved->inputs[0], axis, pattern.shape(node.outputs[0]));
}

// What is behind an Expand or a bound that only keeps from dividing by nothing.
const Node* divisor(const Pattern& pattern, Value value) {
  if (const Node* repeated = pattern.made_by<ops::Expand>(value)) value = repeated->inputs[0];
  const Node* bounded = pattern.made_by<ops::Max>(value);
  const auto least = bounded ? pattern.number(bounded->inputs[1]) : std::nullopt;
  return least && *least <= 1e-6 ? pattern.maker(bounded->inputs[0]) : pattern.maker(value);
}

// x / √(Σ x²), or with a power of ½.
std::optional<Replacement> unit_length(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Div>(*node.op)) return std::nullopt;
  const Value x = node.inputs[0];
  const Node* norm = divisor(pattern, node.inputs[1]);
  if (norm == nullptr || pattern.rank(x) == 0) return std::nullopt;
  const std::vector<int> last{pattern.rank(x) - 1};
  const auto sums_last = [&](const Node* sum) {
    return reduced_axes(*sum->op) == last && pattern.rank(sum->outputs[0]) == pattern.rank(x);
  };
  bool found = is_a<ops::ReduceL2>(*norm->op) && norm->inputs[0] == x && sums_last(norm);
  const bool root = is_a<ops::Sqrt>(*norm->op) ||
                    (is_a<ops::Pow>(*norm->op) && pattern.is_number(norm->inputs[1], 0.5));
  if (root) {
    const Node* sum = pattern.made_by<ops::ReduceSum>(norm->inputs[0]);
    found = sum != nullptr && sums_last(sum) && squared(pattern, sum->inputs[0]) == x;
  }
  if (!found) return std::nullopt;
  return Replacement{
      {x}, [](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
        return l2_normalise(graph, inputs[0], name);
      }};
}

// A sum divided by the number of its addends, as mean pooling with a mask comes out without
// padding.
std::optional<Replacement> divided_sum(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Div>(*node.op)) return std::nullopt;
  const Node* sum = pattern.made_by<ops::ReduceSum>(node.inputs[0]);
  const Tensor* count = pattern.constant(node.inputs[1]);
  if (sum == nullptr || count == nullptr) return std::nullopt;
  const Value x = sum->inputs[0];
  const std::vector<int> axes = reduced_axes(*sum->op);
  const bool whole_numbers = pattern.graph.type(x).dtype == DType::kInt64;
  if (axes.size() != 1 || whole_numbers ||
      pattern.shape(node.outputs[0]) != pattern.shape(sum->outputs[0])) {
    return std::nullopt;
  }
  for (const double number : count->to_doubles()) {
    if (number != static_cast<double>(pattern.shape(x)[axes[0]])) return std::nullopt;
  }
  return mean_node(x, axes[0], pattern.shape(node.outputs[0]));
}

constexpr RewriteRule kRules[] = {written_out_norm,     bias_of_norm, mean_over_one_axis,
                                  mean_over_moved_axis, divided_sum,  unit_length};

}  // namespace

std::span<const RewriteRule> norm_rewrites() { return kRules; }

}  // namespace whyformer::onnx
