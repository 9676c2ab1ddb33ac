// Softmax and the norms.
#include <fmt/format.h>

#include "onnx/operators.h"
#include "onnx/translations/parts.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

int64_t product_of(Shape::const_iterator begin, Shape::const_iterator end) {
  return element_count(Shape(begin, end));
}

// Calls `use` on x with the normalised axis last, and puts the axes back.
template <typename Use>
Value along_last_axis(NodeScope& scope, const Use& use) {
  const Value x = scope.input(0);
  const Shape shape = scope.shape(0);
  const int rank = scope.rank(0);
  const bool flattens = scope.opset() < 13;  // all axes from `axis` on count as one
  const int axis = rank == 0 ? 0 : scope.axis(scope.integer("axis", flattens ? 1 : -1), rank);
  if (rank == 0) return reshaped(scope, use(reshaped(scope, x, {1})), {});
  if (axis == rank - 1) return use(x);
  if (flattens) {
    const Shape flat{product_of(shape.begin(), shape.begin() + axis),
                     product_of(shape.begin() + axis, shape.end())};
    return reshaped(scope, use(reshaped(scope, x, flat)), shape);
  }
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) order.push_back(i);
  std::swap(order[axis], order[rank - 1]);
  return permuted(scope, use(permuted(scope, x, order)), order);
}

std::vector<Value> translate_softmax(NodeScope& scope) {
  return {along_last_axis(scope,
                          [&](Value x) { return softmax(scope.graph(), x, {}, 1, scope.name()); })};
}

std::vector<Value> translate_log_softmax(NodeScope& scope) {
  return {along_last_axis(scope, [&](Value x) {
    const int last = static_cast<int>(scope.graph().shape(x).size()) - 1;
    const Value sum = reduce(scope.graph(), x, Reduction::kLogSumExp, {last}, true, scope.name());
    return binary(scope.graph(), x, sum, BinaryFunction::kSubtract, scope.name());
  })};
}

// Calls `norm` with all axes from `axis` on as one, and scale and bias shaped likewise.
template <typename Norm>
Value over_last_axes(NodeScope& scope, const Norm& norm) {
  const Shape shape = scope.shape(0);
  const int axis = scope.axis(scope.integer("axis", -1), scope.rank(0));
  const Value scale = scope.input(1);
  const Value bias = scope.has(2) ? scope.input(2) : Value{};
  if (axis == scope.rank(0) - 1) return norm(scope.input(0), scale, bias);
  const int64_t columns = product_of(shape.begin() + axis, shape.end());
  Shape flat(shape.begin(), shape.begin() + axis);
  flat.push_back(columns);
  const auto flattened = [&](Value x) {
    if (!x.valid()) return x;
    if (element_count(scope.graph().shape(x)) != columns) {
      scope.fail("has a scale that is repeated along the normalised axes");
    }
    return reshaped(scope, x, {columns});
  };
  const Value x = reshaped(scope, scope.input(0), flat);
  return reshaped(scope, norm(x, flattened(scale), flattened(bias)), shape);
}

void refuse_statistics(NodeScope& scope) {
  for (size_t output = 1; output < scope.node().outputs.size(); ++output) {
    if (!scope.node().outputs[output].empty() && output < 3) {
      scope.fail("gives mean and deviation as well, which only training needs");
    }
  }
}

std::vector<Value> translate_layer_norm(NodeScope& scope) {
  const double epsilon = scope.real("epsilon", 1e-5);
  const Value y = over_last_axes(scope, [&](Value x, Value scale, Value bias) {
    return layer_normalised(scope, x, scale, bias, epsilon);
  });
  if (scope.node().outputs.size() < 2) return {y};
  // ONNX's own tests ask for the statistics.
  std::vector<int> axes;
  for (int axis = scope.axis(scope.integer("axis", -1), scope.rank(0)); axis < scope.rank(0);
       ++axis) {
    axes.push_back(axis);
  }
  GraphBuilder& graph = scope.graph();
  const Value mean = reduce(graph, scope.input(0), Reduction::kMean, axes, true, scope.name());
  const Value away = binary(graph, scope.input(0), mean, BinaryFunction::kSubtract, scope.name());
  const Value squares = binary(graph, away, away, BinaryFunction::kMultiply, scope.name());
  const Value variance = reduce(graph, squares, Reduction::kMean, axes, true, scope.name());
  const Value sum =
      add(graph, variance, scope.number_constant(epsilon, scope.floats()), scope.name());
  const Value root = unary(graph, sum, UnaryFunction::kSqrt, scope.name());
  return {y, mean, unary(graph, root, UnaryFunction::kReciprocal, scope.name())};
}

std::vector<Value> translate_rms_norm(NodeScope& scope) {
  const double epsilon = scope.real("epsilon", 1e-5);
  refuse_statistics(scope);
  return {over_last_axes(scope, [&](Value x, Value scale, Value) {
    return rms_normalised(scope, x, scale, epsilon);
  })};
}

// input [+ bias] + skip, then the norm; the sum is the fourth output. The bias is that of the
// Linear in front, whose output exporters put first.
Value skip_sum(NodeScope& scope, size_t bias_index) {
  GraphBuilder& graph = scope.graph();
  Value branch = scope.input(0);
  if (scope.has(bias_index)) branch = add(graph, branch, scope.input(bias_index), scope.name());
  return add(graph, branch, scope.input(1), scope.name());
}

std::vector<Value> translate_skip_layer_norm(NodeScope& scope) {
  refuse_statistics(scope);
  const Value sum = skip_sum(scope, 4);
  const Value bias = scope.has(3) ? scope.input(3) : Value{};
  const Value y = layer_normalised(scope, sum, scope.input(2), bias, scope.real("epsilon", 1e-12));
  return {y, {}, {}, sum};
}

std::vector<Value> translate_skip_rms_norm(NodeScope& scope) {
  refuse_statistics(scope);
  const Value sum = skip_sum(scope, 3);
  return {rms_normalised(scope, sum, scope.input(2), scope.real("epsilon", 1e-12)), {}, {}, sum};
}

constexpr OnnxOperator kOperators[] = {
    {"", "Softmax", translate_softmax},
    {"", "LogSoftmax", translate_log_softmax},
    {"", "LayerNormalization", translate_layer_norm},
    {"", "RMSNormalization", translate_rms_norm},
    {"", "SimplifiedLayerNormalization", translate_rms_norm},
    {kMicrosoft, "SimplifiedLayerNormalization", translate_rms_norm},
    {kMicrosoft, "SkipLayerNormalization", translate_skip_layer_norm},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", translate_skip_rms_norm},
};

}  // namespace

std::span<const OnnxOperator> normalising_operators() { return kOperators; }

}  // namespace whyformer::onnx
