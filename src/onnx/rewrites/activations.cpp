// Activations written out: a product of x with a function of x.
#include <array>
#include <cmath>
#include <functional>

#include "onnx/rewrites/rewrite.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

constexpr int kDeepestFormula = 6;  // of products and sums within each other

// Operands of a product of two values of one shape.
const Node* product_of_equals(const Pattern& pattern, Value value) {
  const Node* product = pattern.made_by<ops::Mul>(value);
  const bool same_shapes = product != nullptr &&
                           pattern.shape(product->inputs[0]) == pattern.shape(value) &&
                           pattern.shape(product->inputs[1]) == pattern.shape(value);
  return same_shapes ? product : nullptr;
}

// A product taken apart down to `x`: its number, and its factors that are none.
struct Factors {
  double number = 1;
  std::vector<Value> values;
};

void collect(const Pattern& pattern, Value value, Value x, Factors& factors, int depth) {
  if (value == x || depth == 0) {
    factors.values.push_back(value);
  } else if (const auto scaled = pattern.scaled(value)) {
    factors.number *= scaled->factor;
    collect(pattern, scaled->x, x, factors, depth - 1);
  } else if (const Node* product = product_of_equals(pattern, value)) {
    for (const Value input : product->inputs) collect(pattern, input, x, factors, depth - 1);
  } else {
    factors.values.push_back(value);
  }
}

// Every value that the product is made of, itself first.
void list_factors(const Pattern& pattern, Value value, std::vector<Value>& all, int depth) {
  all.push_back(value);
  if (depth == 0) return;
  if (const auto scaled = pattern.scaled(value)) {
    list_factors(pattern, scaled->x, all, depth - 1);
  } else if (const Node* product = product_of_equals(pattern, value)) {
    for (const Value input : product->inputs) list_factors(pattern, input, all, depth - 1);
  }
}

// Coefficients of 1, x, x² and x³.
using Polynomial = std::array<double, 4>;

std::optional<Polynomial> polynomial_product(const Polynomial& a, const Polynomial& b) {
  Polynomial product{};
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < b.size(); ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= product.size()) return std::nullopt;
      product[i + j] += a[i] * b[j];
    }
  }
  return product;
}

std::optional<Polynomial> polynomial_of(const Pattern& pattern, Value value, Value x, int depth);

// u + sign · v.
std::optional<Polynomial> polynomial_sum(const Pattern& pattern, const Node& sum, double sign,
                                         Value x, int depth) {
  const auto u = polynomial_of(pattern, sum.inputs[0], x, depth),
             v = polynomial_of(pattern, sum.inputs[1], x, depth);
  if (!u || !v) return std::nullopt;
  Polynomial result = *u;
  for (size_t i = 0; i < result.size(); ++i) result[i] += sign * (*v)[i];
  return result;
}

// uⁿ for a small n.
std::optional<Polynomial> polynomial_power(const Pattern& pattern, const Node& power, Value x,
                                           int depth) {
  const auto base = polynomial_of(pattern, power.inputs[0], x, depth);
  const bool square = pattern.is_number(power.inputs[1], 2);
  if (!base || (!square && !pattern.is_number(power.inputs[1], 3))) return std::nullopt;
  const auto squared = polynomial_product(*base, *base);
  return square || !squared ? squared : polynomial_product(*squared, *base);
}

// The value as a polynomial in x, if it is one of a low degree.
std::optional<Polynomial> polynomial_of(const Pattern& pattern, Value value, Value x, int depth) {
  if (value == x) return Polynomial{0, 1, 0, 0};
  if (const auto number = pattern.number(value)) return Polynomial{*number, 0, 0, 0};
  if (depth == 0) return std::nullopt;
  if (const auto scaled = pattern.scaled(value)) {
    const auto inner = polynomial_of(pattern, scaled->x, x, depth - 1);
    return inner ? polynomial_product({scaled->factor, 0, 0, 0}, *inner) : std::nullopt;
  }
  const Node* node = pattern.maker(value);
  if (node == nullptr) return std::nullopt;
  if (is_a<ops::Add>(*node->op)) return polynomial_sum(pattern, *node, 1, x, depth - 1);
  if (is_a<ops::Sub>(*node->op)) return polynomial_sum(pattern, *node, -1, x, depth - 1);
  if (is_a<ops::Pow>(*node->op)) return polynomial_power(pattern, *node, x, depth - 1);
  if (product_of_equals(pattern, value) == nullptr) return std::nullopt;
  const auto a = polynomial_of(pattern, node->inputs[0], x, depth - 1);
  const auto b = polynomial_of(pattern, node->inputs[1], x, depth - 1);
  return a && b ? polynomial_product(*a, *b) : std::nullopt;
}

constexpr double kRounded = 1e-4;  // files round the constants of GELUs

bool near(double a, double b, double tolerance = kRounded) {
  return std::abs(a - b) <= tolerance * std::abs(b);
}

// x · gate(x) = outer · f(inner · x).
using ActivationBuilder = std::function<Value(GraphBuilder&, Value, const std::string&)>;
struct Gated {
  double inner = 1;
  double outer = 1;
  ActivationBuilder f;
  double tolerance = 1e-6;  // that leaves out factors near 1
};

ActivationBuilder builder_of(ActivationFunction f) {
  return [f](GraphBuilder& graph, Value x, const std::string& name) {
    return activation(graph, x, f, name);
  };
}

// c + c · y for a number c, mostly 1 or ½.
struct Shifted {
  Value y;
  double number = 1;
};
std::optional<Shifted> shifted(const Pattern& pattern, Value value) {
  const Node* add = pattern.made_by<ops::Add>(value);
  for (const int place : {0, 1}) {
    const auto number = add == nullptr ? std::nullopt : pattern.number(add->inputs[place]);
    if (!number || *number == 0) continue;
    const Value other = add->inputs[1 - place];
    if (near(*number, 1)) return Shifted{other, 1};
    if (const auto scaled = pattern.scaled(other); scaled && near(scaled->factor, *number))
      return Shifted{scaled->x, *number};
  }
  return std::nullopt;
}

// x (1 + erf(k x)) = 2/a · gelu(a x) with a = √2 k.
std::optional<Gated> gated_by_erf(const Pattern& pattern, Value gate, Value x) {
  const auto sum = shifted(pattern, gate);
  const Node* erf = sum ? pattern.made_by<ops::Erf>(sum->y) : nullptr;
  const auto line = erf ? polynomial_of(pattern, erf->inputs[0], x, kDeepestFormula) : std::nullopt;
  if (!line || (*line)[0] != 0 || (*line)[1] == 0 || (*line)[2] != 0 || (*line)[3] != 0)
    return std::nullopt;
  const double inner = (*line)[1] * std::sqrt(2);
  return Gated{inner, 2 * sum->number / inner, builder_of(ActivationFunction::kGelu), kRounded};
}

// x (1 + tanh(√(2/π) (a x + 0.044715 (a x)³))) = 2/a · gelu_tanh(a x).
std::optional<Gated> gated_by_tanh(const Pattern& pattern, Value gate, Value x) {
  const auto sum = shifted(pattern, gate);
  const Node* tanh = sum ? pattern.maker(sum->y) : nullptr;
  if (tanh == nullptr || activation_function(*tanh->op) != ActivationFunction::kTanh)
    return std::nullopt;
  const auto cubic = polynomial_of(pattern, tanh->inputs[0], x, kDeepestFormula);
  if (!cubic || (*cubic)[0] != 0 || (*cubic)[1] == 0 || (*cubic)[2] != 0) return std::nullopt;
  const double inner = (*cubic)[1] / std::sqrt(2 / M_PI);
  if (!near((*cubic)[3], 0.044715 * std::pow(inner, 3) * std::sqrt(2 / M_PI))) return std::nullopt;
  return Gated{inner, 2 * sum->number / inner, builder_of(ActivationFunction::kGeluTanh), kRounded};
}

// x · sigmoid(k x).
std::optional<Gated> gated_by_sigmoid(const Pattern& pattern, Value gate, Value x) {
  const Node* sigmoid = pattern.maker(gate);
  if (sigmoid == nullptr || activation_function(*sigmoid->op) != ActivationFunction::kSigmoid)
    return std::nullopt;
  const auto line = polynomial_of(pattern, sigmoid->inputs[0], x, kDeepestFormula);
  if (!line || (*line)[0] != 0 || (*line)[1] == 0 || (*line)[2] != 0 || (*line)[3] != 0)
    return std::nullopt;
  const double alpha = (*line)[1];
  if (alpha == 1) return Gated{1, 1, builder_of(ActivationFunction::kSilu)};
  return Gated{1, 1, [alpha](GraphBuilder& graph, Value y, const std::string& name) {
                 return sigmoid_times(graph, y, alpha, name);
               }};
}

// A value held between 0 and `most`.
struct Held {
  Value value;
  double most = 1;
};
std::optional<Held> held_above_zero(const Pattern& pattern, Value value) {
  const Node* node = pattern.maker(value);
  if (node == nullptr) return std::nullopt;
  if (activation_function(*node->op) == ActivationFunction::kRelu) return Held{node->inputs[0]};
  if (!is_a<ops::Max>(*node->op)) return std::nullopt;
  for (const int place : {0, 1}) {
    if (pattern.number(node->inputs[place]) == 0.0) return Held{node->inputs[1 - place]};
  }
  return std::nullopt;
}

// min(max(z, 0), most), in either order.
std::optional<Held> held(const Pattern& pattern, Value value) {
  if (const Node* least = pattern.made_by<ops::Min>(value)) {
    for (const int place : {0, 1}) {
      const auto most = pattern.number(least->inputs[place]);
      const auto inner = held_above_zero(pattern, least->inputs[1 - place]);
      if (most && *most > 0 && inner) return Held{inner->value, *most};
    }
  }
  const auto above = held_above_zero(pattern, value);
  const Node* least = above ? pattern.made_by<ops::Min>(above->value) : nullptr;
  for (const int place : {0, 1}) {
    const auto most = least == nullptr ? std::nullopt : pattern.number(least->inputs[place]);
    if (most && *most > 0) return Held{least->inputs[1 - place], *most};
  }
  return std::nullopt;
}

// x · min(max(k x + b, 0), most) = most/a · hard_swish(a x) with a = 6 k / most, where b is half of
// `most`.
std::optional<Gated> gated_by_line(const Pattern& pattern, Value gate, Value x) {
  const Node* node = pattern.maker(gate);
  const auto sigmoid = node == nullptr ? std::nullopt : hard_sigmoid_line(*node->op);
  const auto bounds = sigmoid ? std::optional(Held{node->inputs[0], 1}) : held(pattern, gate);
  auto line = bounds ? polynomial_of(pattern, bounds->value, x, kDeepestFormula) : std::nullopt;
  if (line && sigmoid)
    line = Polynomial{sigmoid->slope * (*line)[0] + sigmoid->offset, sigmoid->slope * (*line)[1],
                      (*line)[2], (*line)[3]};
  if (!line || (*line)[1] == 0 || (*line)[2] != 0 || (*line)[3] != 0) return std::nullopt;
  if (!near((*line)[0], bounds->most / 2)) return std::nullopt;
  const double inner = 6 * (*line)[1] / bounds->most;
  return Gated{inner, bounds->most / inner, hard_swish};
}

Value multiplied(GraphBuilder& graph, Value x, double factor, double tolerance,
                 const std::string& name) {
  if (near(factor, 1, tolerance)) return x;
  Tensor number = Tensor::empty({}, graph.type(x).dtype);
  number.fill(factor);
  return binary(graph, x, graph.constant(number, name), BinaryFunction::kMultiply, name);
}

std::optional<Replacement> written_out_activation(const Pattern& pattern, const Node& node) {
  if (!is_a<ops::Mul>(*node.op)) return std::nullopt;
  std::vector<Value> candidates;
  list_factors(pattern, node.outputs[0], candidates, kDeepestFormula);
  for (size_t i = 1; i < candidates.size(); ++i) {
    const Value x = candidates[i];
    Factors factors;
    collect(pattern, node.outputs[0], x, factors, kDeepestFormula);
    if (factors.values.size() != 2 || (factors.values[0] == x) == (factors.values[1] == x))
      continue;
    const Value gate = factors.values[0] == x ? factors.values[1] : factors.values[0];
    for (const auto read : {gated_by_erf, gated_by_tanh, gated_by_sigmoid, gated_by_line}) {
      auto gated = read(pattern, gate, x);
      if (!gated) continue;
      gated->outer *= factors.number;
      return Replacement{{x},
                         [gated = *gated](GraphBuilder& graph, std::span<const Value> inputs,
                                          const std::string& name) {
                           const Value inner = multiplied(graph, inputs[0], gated.inner,
                                                          gated.tolerance, name + "/scaled");
                           return multiplied(graph, gated.f(graph, inner, name), gated.outer,
                                             gated.tolerance, name + "/rescaled");
                         }};
    }
  }
  return std::nullopt;
}

constexpr RewriteRule kRules[] = {written_out_activation};

}  // namespace

std::span<const RewriteRule> activation_rewrites() { return kRules; }

}  // namespace whyformer::onnx
