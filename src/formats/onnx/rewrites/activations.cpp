// Activations written out: a product of x with a function of x.
#include <cmath>

#include "formats/onnx/rewrites/rewrite.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// A product taken apart: its number, and its factors that are none.
struct Factors {
  double number = 1;
  std::vector<Value> values;
};

void collect(const Pattern& pattern, Value value, Factors& factors, int depth) {
  if (const auto scaled = pattern.scaled(value); scaled && depth > 0) {
    factors.number *= scaled->factor;
    return collect(pattern, scaled->x, factors, depth - 1);
  }
  const Node* product = pattern.made_by(value, "Mul");
  const bool same_shapes = product != nullptr &&
                           pattern.shape(product->inputs[0]) == pattern.shape(value) &&
                           pattern.shape(product->inputs[1]) == pattern.shape(value);
  if (depth > 0 && same_shapes) {
    collect(pattern, product->inputs[0], factors, depth - 1);
    collect(pattern, product->inputs[1], factors, depth - 1);
    return;
  }
  factors.values.push_back(value);
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-4 * std::abs(b); }

// y where the value is 1 + y.
std::optional<Value> one_plus(const Pattern& pattern, Value value) {
  const Node* add = pattern.made_by(value, "Add");
  if (add == nullptr) return std::nullopt;
  for (const int place : {0, 1}) {
    if (pattern.is_number(add->inputs[place], 1)) return add->inputs[1 - place];
  }
  return std::nullopt;
}

const Node* made_by_activation(const Pattern& pattern, Value value, Activation f) {
  const Node* node = pattern.maker(value);
  return node != nullptr && node->op->activation_function() == f ? node : nullptr;
}

// erf(x / √2).
bool is_erf_of(const Pattern& pattern, Value value, Value x) {
  const Node* erf = pattern.made_by(value, "Erf");
  const auto inner = erf ? pattern.scaled(erf->inputs[0]) : std::nullopt;
  return inner && inner->x == x && near(inner->factor, std::sqrt(0.5));
}

bool is_cube_of(const Pattern& pattern, Value value, Value x) {
  if (const Node* power = pattern.made_by(value, "Pow")) {
    return power->inputs[0] == x && pattern.is_number(power->inputs[1], 3);
  }
  Factors factors;
  collect(pattern, value, factors, 2);
  return factors.number == 1 && factors.values == std::vector<Value>{x, x, x};
}

// tanh(√(2/π) (x + 0.044715 x³)).
bool is_tanh_of(const Pattern& pattern, Value value, Value x) {
  const Node* tanh = made_by_activation(pattern, value, Activation::kTanh);
  const auto inner = tanh ? pattern.scaled(tanh->inputs[0]) : std::nullopt;
  const Node* sum = inner ? pattern.made_by(inner->x, "Add") : nullptr;
  if (sum == nullptr || !near(inner->factor, std::sqrt(2 / M_PI))) return false;
  const auto cubic = pattern.other_operand(*sum, x);
  if (!cubic) return false;
  Factors factors;
  collect(pattern, *cubic, factors, 4);
  if (!near(factors.number, 0.044715)) return false;
  return factors.values == std::vector<Value>{x, x, x} ||
         (factors.values.size() == 1 && is_cube_of(pattern, factors.values[0], x));
}

Replacement activation_of(Value x, Activation f) {
  return {{x}, [f](GraphBuilder& graph, std::span<const Value> inputs, const std::string& name) {
            return activation(graph, inputs[0], f, name);
          }};
}

std::optional<Replacement> written_out_activation(const Pattern& pattern, const Node& node) {
  if (node.op->kind() != "Mul") return std::nullopt;
  Factors factors;
  collect(pattern, node.outputs[0], factors, 3);
  if (factors.values.size() != 2) return std::nullopt;
  for (const int place : {0, 1}) {
    const Value x = factors.values[place], f = factors.values[1 - place];
    if (const auto y = one_plus(pattern, f); y && near(factors.number, 0.5)) {
      if (is_erf_of(pattern, *y, x)) return activation_of(x, Activation::kGelu);
      if (is_tanh_of(pattern, *y, x)) return activation_of(x, Activation::kGeluTanh);
    }
    const Node* sigmoid = made_by_activation(pattern, f, Activation::kSigmoid);
    if (sigmoid == nullptr || factors.number != 1) continue;
    if (sigmoid->inputs[0] == x) return activation_of(x, Activation::kSilu);
    const auto inner = pattern.scaled(sigmoid->inputs[0]);
    if (!inner || inner->x != x) continue;
    const double alpha = inner->factor;
    return Replacement{{x},
                       [alpha](GraphBuilder& graph, std::span<const Value> inputs,
                               const std::string& name) {
                         return sigmoid_times(graph, inputs[0], alpha, name);
                       }};
  }
  return std::nullopt;
}

constexpr RewriteRule kRules[] = {written_out_activation};

}  // namespace

std::span<const RewriteRule> activation_rewrites() { return kRules; }

}  // namespace whyformer::onnx
