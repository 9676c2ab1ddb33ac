#include <limits>

#include "onnx/operators.h"
#include "onnx/translations/narrow_integers.h"
#include "onnx/translations/parts.h"
#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// Narrow integers where floats would not be exact: computed as 64-bit integers.
Value as_integers(NodeScope& scope, BinaryFunction f) {
  GraphBuilder& graph = scope.graph();
  const Value a = cast(graph, scope.input(0), DType::kInt64, false, scope.name());
  const Value b = cast(graph, scope.input(1), DType::kInt64, false, scope.name());
  const Value result =
      wrapped_around(scope, binary(graph, a, b, f, scope.name()), scope.element(0));
  return cast(graph, result, scope.floats(), false, scope.name());
}

std::vector<Value> translate_add(NodeScope& scope) {
  const Value sum = add(scope.graph(), scope.input(0), scope.input(1), scope.name());
  const ElementType type = scope.element(0);
  return {is_narrow(type) ? wrapped_around(scope, sum, type) : sum};
}

std::vector<Value> translate_subtract(NodeScope& scope) {
  const Value difference = subtract(scope.graph(), scope.input(0), scope.input(1), scope.name());
  const ElementType type = scope.element(0);
  return {is_narrow(type) ? wrapped_around(scope, difference, type) : difference};
}

std::vector<Value> translate_multiply(NodeScope& scope) {
  const ElementType type = scope.element(0);
  if (is_narrow(type) && bits_of(type) > 8) return {as_integers(scope, BinaryFunction::kMultiply)};
  const Value product = binary(scope.graph(), scope.input(0), scope.input(1),
                               BinaryFunction::kMultiply, scope.name());
  return {is_narrow(type) ? wrapped_around(scope, product, type) : product};
}

// A constant over x is a function of x alone, whose relevance does not stop at the divisor.
std::vector<Value> translate_divide(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  if (is_narrow(scope.element(0))) return {as_integers(scope, BinaryFunction::kDivide)};
  const Value a = scope.input(0), b = scope.input(1);
  const Tensor* dividend = graph.known(a);
  if (dividend == nullptr || graph.known(b) != nullptr || scope.dtype(0) == DType::kInt64) {
    return {binary(graph, a, b, BinaryFunction::kDivide, scope.name())};
  }
  const Value inverse = unary(graph, b, UnaryFunction::kReciprocal, scope.name());
  const bool is_one =
      dividend->size() == 1 && dividend->rank() <= scope.rank(1) && dividend->to_doubles()[0] == 1;
  if (is_one) return {inverse};
  return {binary(graph, a, inverse, BinaryFunction::kMultiply, scope.name())};
}

std::vector<Value> translate_modulo(NodeScope& scope) {
  const bool sign_of_dividend = scope.integer("fmod", 0) != 0;
  return {binary(scope.graph(), scope.input(0), scope.input(1),
                 sign_of_dividend ? BinaryFunction::kRemainder : BinaryFunction::kModulo,
                 scope.name())};
}

// The result has the base's type, whatever that of the exponent.
std::vector<Value> translate_power(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const DType base = scope.dtype(0), exponent = scope.dtype(1);
  Value a = scope.input(0), b = scope.input(1);
  if (base != exponent) {
    if (base == DType::kInt64)
      a = cast(graph, a, exponent, false, scope.name());
    else
      b = cast(graph, b, base, false, scope.name());
  }
  const Value power = binary(graph, a, b, BinaryFunction::kPower, scope.name());
  if (graph.type(power).dtype == base) return {power};
  return {cast(graph, power, base, false, scope.name())};
}

template <BinaryFunction kFunction>
std::vector<Value> translate_extremum(NodeScope& scope) {
  Value result = scope.input(0);
  for (size_t i = 1; i < scope.count(); ++i) {
    result = binary(scope.graph(), result, scope.input(i), kFunction, scope.name());
  }
  return {result};
}

std::vector<Value> translate_sum(NodeScope& scope) {
  Value sum = scope.input(0);
  for (size_t i = 1; i < scope.count(); ++i) {
    sum = add(scope.graph(), sum, scope.input(i), scope.name());
  }
  return {sum};
}

std::vector<Value> translate_mean(NodeScope& scope) {
  return {scaled(scope, translate_sum(scope)[0], 1.0 / static_cast<double>(scope.count()))};
}

template <BinaryFunction kFunction>
std::vector<Value> translate_comparison(NodeScope& scope) {
  const Value answer =
      binary(scope.graph(), scope.input(0), scope.input(1), kFunction, scope.name());
  scope.set_element(answer, ElementType::kBool);
  return {answer};
}

template <UnaryFunction kFunction>
std::vector<Value> translate_unary(NodeScope& scope) {
  return {unary(scope.graph(), scope.input(0), kFunction, scope.name())};
}

template <UnaryFunction kFunction>
std::vector<Value> translate_question(NodeScope& scope) {
  const Value answer = unary(scope.graph(), scope.input(0), kFunction, scope.name());
  scope.set_element(answer, ElementType::kBool);
  return {answer};
}

template <ActivationFunction kActivation>
std::vector<Value> translate_activation(NodeScope& scope) {
  return {activation(scope.graph(), scope.input(0), kActivation, scope.name())};
}

std::vector<Value> translate_relu(NodeScope& scope) {
  if (scope.dtype(0) != DType::kInt64)
    return translate_activation<ActivationFunction::kRelu>(scope);
  return {binary(scope.graph(), scope.input(0), scope.number_constant(0, DType::kInt64),
                 BinaryFunction::kMaximum, scope.name())};
}

std::vector<Value> translate_leaky_relu(NodeScope& scope) {
  return {leaky_relu(scope.graph(), scope.input(0), scope.real("alpha", 0.01), scope.name())};
}

std::vector<Value> translate_elu(NodeScope& scope) {
  return {elu(scope.graph(), scope.input(0), scope.real("alpha", 1), scope.name())};
}

std::vector<Value> translate_selu(NodeScope& scope) {
  const double alpha = scope.real("alpha", 1.67326319217681884765625);
  const double gamma = scope.real("gamma", 1.05070102214813232421875);
  return {scaled(scope, elu(scope.graph(), scope.input(0), alpha, scope.name()), gamma)};
}

std::vector<Value> translate_hard_sigmoid(NodeScope& scope) {
  return {hard_sigmoid(scope.graph(), scope.input(0), scope.real("alpha", 0.2),
                       scope.real("beta", 0.5), scope.name())};
}

std::vector<Value> translate_hard_swish(NodeScope& scope) {
  return {hard_swish(scope.graph(), scope.input(0), scope.name())};
}

std::vector<Value> translate_swish(NodeScope& scope) {
  const double alpha = scope.real("alpha", 1);
  if (alpha == 1) return translate_activation<ActivationFunction::kSilu>(scope);
  return {sigmoid_times(scope.graph(), scope.input(0), alpha, scope.name())};
}

std::vector<Value> translate_swiglu(NodeScope& scope) {
  const Value gate = translate_swish(scope)[0];
  return {binary(scope.graph(), gate, scope.input(1), BinaryFunction::kMultiply, scope.name())};
}

std::vector<Value> translate_quick_gelu(NodeScope& scope) {
  return {sigmoid_times(scope.graph(), scope.input(0), scope.real("alpha", 1.702), scope.name())};
}

std::vector<Value> translate_gelu(NodeScope& scope) {
  const std::string approximate = scope.text("approximate", "none");
  if (approximate == "tanh") return translate_activation<ActivationFunction::kGeluTanh>(scope);
  if (approximate != "none") scope.fail("approximates by '" + approximate + "'");
  return translate_activation<ActivationFunction::kGelu>(scope);
}

// Gelu(x + bias), the bias optional.
template <ActivationFunction kActivation>
std::vector<Value> translate_gelu_of_sum(NodeScope& scope) {
  Value x = scope.input(0);
  if (scope.has(1)) x = add(scope.graph(), x, scope.input(1), scope.name() + "/bias");
  return {activation(scope.graph(), x, kActivation, scope.name())};
}

std::vector<Value> translate_prelu(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const Value x = scope.input(0);
  const Value below = binary(graph, x, scope.number_constant(0, scope.dtype(0)),
                             BinaryFunction::kLess, scope.name());
  const Value sloped = binary(graph, x, scope.input(1), BinaryFunction::kMultiply, scope.name());
  return {where(graph, below, sloped, x, scope.name())};
}

// A bound of Clip: an attribute in old opsets, an optional input in new ones. PyTorch bounds
// integers by floats at opset 11.
Value bound(NodeScope& scope, std::string_view attribute, size_t index) {
  if (scope.opset() >= 11) {
    if (!scope.has(index)) return {};
    const Value given = scope.input(index);
    if (scope.dtype(index) == scope.dtype(0)) return given;
    return cast(scope.graph(), given, scope.dtype(0), false, scope.name());
  }
  if (!scope.has_attribute(attribute)) return {};
  return scope.number_constant(scope.real(attribute, 0), scope.dtype(0));
}

std::vector<Value> translate_clip(NodeScope& scope) {
  Value x = scope.input(0);
  if (const Value least = bound(scope, "min", 1); least.valid()) {
    x = binary(scope.graph(), x, least, BinaryFunction::kMaximum, scope.name());
  }
  if (const Value most = bound(scope, "max", 2); most.valid()) {
    x = binary(scope.graph(), x, most, BinaryFunction::kMinimum, scope.name());
  }
  return {x};
}

std::vector<Value> translate_is_inf(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const bool positive = scope.integer("detect_positive", 1) != 0;
  const bool negative = scope.integer("detect_negative", 1) != 0;
  const double infinity = std::numeric_limits<double>::infinity();
  Value x = scope.input(0);
  if (positive && negative) x = unary(graph, x, UnaryFunction::kAbs, scope.name());
  // Nothing equals what is not a number.
  const double sought = positive   ? infinity
                        : negative ? -infinity
                                   : std::numeric_limits<double>::quiet_NaN();
  const Value answer = binary(graph, x, scope.number_constant(sought, scope.dtype(0)),
                              BinaryFunction::kEqual, scope.name());
  scope.set_element(answer, ElementType::kBool);
  return {answer};
}

std::vector<Value> translate_where(NodeScope& scope) {
  const Value chosen =
      where(scope.graph(), scope.input(0), scope.input(1), scope.input(2), scope.name());
  scope.set_element(chosen, scope.element(1));
  return {chosen};
}

std::vector<Value> translate_cast(NodeScope& scope) {
  const ElementType to = element_type(static_cast<int>(scope.integer("to", 1)),
                                      "the target of Cast '" + scope.name() + "'");
  return {converted(scope, scope.input(0), scope.element(0), to)};
}

std::vector<Value> translate_cast_like(NodeScope& scope) {
  return {converted(scope, scope.input(0), scope.element(0), scope.element(1))};
}

std::vector<Value> translate_identity(NodeScope& scope) { return {scope.input(0)}; }

// Of a model that is not being trained: every element stays.
std::vector<Value> translate_dropout(NodeScope& scope) {
  if (scope.node().outputs.size() < 2) return {scope.input(0)};
  const Value mask =
      expand(scope.graph(), scope.number_constant(1, DType::kInt64), scope.shape(0), scope.name());
  scope.set_element(mask, ElementType::kBool);
  return {scope.input(0), mask};
}

constexpr OnnxOperator kOperators[] = {
    {"", "Add", translate_add},
    {"", "Sub", translate_subtract},
    {"", "Mul", translate_multiply},
    {"", "Div", translate_divide},
    {"", "Mod", translate_modulo},
    {"", "Pow", translate_power},
    {"", "Min", translate_extremum<BinaryFunction::kMinimum>},
    {"", "Max", translate_extremum<BinaryFunction::kMaximum>},
    {"", "Sum", translate_sum},
    {"", "Mean", translate_mean},
    {"", "Equal", translate_comparison<BinaryFunction::kEqual>},
    {"", "Less", translate_comparison<BinaryFunction::kLess>},
    {"", "LessOrEqual", translate_comparison<BinaryFunction::kLessOrEqual>},
    {"", "Greater", translate_comparison<BinaryFunction::kGreater>},
    {"", "GreaterOrEqual", translate_comparison<BinaryFunction::kGreaterOrEqual>},
    {"", "And", translate_comparison<BinaryFunction::kAnd>},
    {"", "Or", translate_comparison<BinaryFunction::kOr>},
    {"", "Xor", translate_comparison<BinaryFunction::kXor>},
    {"", "Sqrt", translate_unary<UnaryFunction::kSqrt>},
    {"", "Reciprocal", translate_unary<UnaryFunction::kReciprocal>},
    {"", "Neg", translate_unary<UnaryFunction::kNegate>},
    {"", "Abs", translate_unary<UnaryFunction::kAbs>},
    {"", "Sign", translate_unary<UnaryFunction::kSign>},
    {"", "Floor", translate_unary<UnaryFunction::kFloor>},
    {"", "Ceil", translate_unary<UnaryFunction::kCeil>},
    {"", "Round", translate_unary<UnaryFunction::kRound>},
    {"", "Exp", translate_unary<UnaryFunction::kExp>},
    {"", "Log", translate_unary<UnaryFunction::kLog>},
    {"", "Erf", translate_unary<UnaryFunction::kErf>},
    {"", "Sin", translate_unary<UnaryFunction::kSin>},
    {"", "Cos", translate_unary<UnaryFunction::kCos>},
    {"", "Softplus", translate_unary<UnaryFunction::kSoftplus>},
    {"", "IsNaN", translate_question<UnaryFunction::kIsNan>},
    {"", "IsInf", translate_is_inf},
    {"", "Not", translate_question<UnaryFunction::kNot>},
    {"", "Tanh", translate_activation<ActivationFunction::kTanh>},
    {"", "Sigmoid", translate_activation<ActivationFunction::kSigmoid>},
    {"", "Relu", translate_relu},
    {"", "LeakyRelu", translate_leaky_relu},
    {"", "PRelu", translate_prelu},
    {"", "Elu", translate_elu},
    {"", "Selu", translate_selu},
    {"", "Gelu", translate_gelu},
    {"", "Swish", translate_swish},
    {"", "SwiGLU", translate_swiglu},
    {"", "HardSigmoid", translate_hard_sigmoid},
    {"", "HardSwish", translate_hard_swish},
    {"", "Clip", translate_clip},
    {"", "Where", translate_where},
    {"", "Cast", translate_cast},
    {"", "CastLike", translate_cast_like},
    {"", "Identity", translate_identity},
    {"", "Dropout", translate_dropout},
    {kMicrosoft, "Gelu", translate_gelu_of_sum<ActivationFunction::kGelu>},
    {kMicrosoft, "BiasGelu", translate_gelu_of_sum<ActivationFunction::kGelu>},
    {kMicrosoft, "FastGelu", translate_gelu_of_sum<ActivationFunction::kGeluTanh>},
    {kMicrosoft, "QuickGelu", translate_quick_gelu},
};

}  // namespace

std::span<const OnnxOperator> elementwise_operators() { return kOperators; }

}  // namespace whyformer::onnx
