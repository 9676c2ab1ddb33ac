#include "onnx/translations/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/helpers.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// A stack of matrices over more axes than MatMul takes, as a stack over one.
Value product_of_stacks(NodeScope& scope, Value a, Value b) {
  GraphBuilder& graph = scope.graph();
  const Shape& a_shape = graph.shape(a);
  const Shape& b_shape = graph.shape(b);
  const Shape leading =
      broadcast({a_shape.begin(), a_shape.end() - 2}, {b_shape.begin(), b_shape.end() - 2});
  const auto flat = [&](Value x) {
    const Shape matrix(graph.shape(x).end() - 2, graph.shape(x).end());
    Shape whole = leading;
    whole.insert(whole.end(), matrix.begin(), matrix.end());
    if (graph.shape(x) != whole) x = expand(graph, x, whole, scope.name());
    return reshaped(scope, x, {element_count(leading), matrix[0], matrix[1]});
  };
  const Value result = matmul(graph, flat(a), flat(b), scope.name());
  Shape shape = leading;
  shape.push_back(graph.shape(result)[1]);
  shape.push_back(graph.shape(result)[2]);
  return reshaped(scope, result, shape);
}

void check_length(int64_t count) {
  constexpr int64_t kLongest = int64_t{1} << 24;
  if (count > kLongest)
    throw InvalidInput(fmt::format("an axis of {} positions is too long", count));
}

int64_t columns_of(const Shape& shape) {
  if (shape.empty()) throw InvalidInput("a norm needs at least one axis");
  return shape.back();
}

}  // namespace

Tensor filled(int64_t count, double number, DType dtype) {
  check_length(count);
  Tensor result = Tensor::empty({count}, dtype);
  result.fill(number);
  return result;
}

Tensor counted(int64_t count) {
  check_length(count);
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return Tensor::of<int64_t>({count}, std::span<const int64_t>(numbers));
}

Value reshaped(NodeScope& scope, Value x, const Shape& shape) {
  if (scope.graph().shape(x) == shape) return x;
  return reshape(scope.graph(), x, shape, scope.name());
}

Value permuted(NodeScope& scope, Value x, const std::vector<int>& order) {
  if (std::is_sorted(order.begin(), order.end())) return x;
  return transpose(scope.graph(), x, order, scope.name());
}

Value product(NodeScope& scope, Value a, Value b) {
  GraphBuilder& graph = scope.graph();
  const Shape a_shape = graph.shape(a), b_shape = graph.shape(b);
  if (a_shape.empty() || b_shape.empty()) throw InvalidInput("a product needs at least one axis");
  if (b_shape.size() == 1) {
    Value result = product(scope, a, reshaped(scope, b, {b_shape[0], 1}));
    Shape shape = graph.shape(result);
    shape.pop_back();
    return reshaped(scope, result, shape);
  }
  if (a_shape.size() == 1) {
    Value result = product(scope, reshaped(scope, a, {1, a_shape[0]}), b);
    Shape shape = graph.shape(result);
    shape.erase(shape.end() - 2);
    return reshaped(scope, result, shape);
  }
  const Tensor* matrix = graph.known(b);
  if (matrix != nullptr && matrix->rank() == 2 && matrix->dtype() != DType::kInt64) {
    return linear(graph, a, scope.linear_weights(*matrix, false), scope.name());
  }
  if (a_shape.size() > 4 || b_shape.size() > 4) return product_of_stacks(scope, a, b);
  return matmul(graph, a, b, scope.name());
}

Value linear_product(NodeScope& scope, Value x, Value weight, Value bias) {
  GraphBuilder& graph = scope.graph();
  const Tensor* matrix = graph.known(weight);
  const Tensor* addend = bias.valid() ? graph.known(bias) : nullptr;
  if (matrix != nullptr && matrix->rank() == 2 && matrix->dtype() != DType::kInt64 &&
      addend != nullptr && addend->rank() == 1) {
    return linear(graph, x, scope.linear_weights(*matrix, false, *addend), scope.name());
  }
  const Value result = product(scope, x, weight);
  return bias.valid() ? add(graph, result, bias, scope.name()) : result;
}

Value scaled(NodeScope& scope, Value x, double factor) {
  if (factor == 1) return x;
  const Value constant = scope.number_constant(factor, scope.graph().type(x).dtype);
  return binary(scope.graph(), x, constant, BinaryFunction::kMultiply, scope.name());
}

Value activated(NodeScope& scope, Value x, const std::string& name) {
  GraphBuilder& graph = scope.graph();
  const auto simple = [&](ActivationFunction f) { return activation(graph, x, f, scope.name()); };
  if (name.empty()) return x;
  if (name == "Relu") return simple(ActivationFunction::kRelu);
  if (name == "Tanh") return simple(ActivationFunction::kTanh);
  if (name == "Sigmoid") return simple(ActivationFunction::kSigmoid);
  if (name == "Gelu") return simple(ActivationFunction::kGelu);
  if (name == "LeakyRelu") {
    return leaky_relu(graph, x, scope.real("activation_alpha", 0.01), scope.name());
  }
  scope.fail(fmt::format("applies the activation '{}', which is not known", name));
}

Value layer_normalised(NodeScope& scope, Value x, Value scale, Value bias, double epsilon) {
  GraphBuilder& graph = scope.graph();
  const int64_t columns = columns_of(graph.shape(x));
  const Tensor* weight = graph.known(scale);
  const Tensor* shift = bias.valid() ? graph.known(bias) : nullptr;
  const bool fits = weight != nullptr && weight->size() == columns &&
                    (!bias.valid() || (shift != nullptr && shift->size() == columns));
  const DType dtype = graph.type(x).dtype;
  const Tensor ones = filled(columns, 1, dtype), zeros = filled(columns, 0, dtype);
  if (fits) {
    const Tensor added = shift != nullptr ? shift->reshape({columns}).contiguous() : zeros;
    return layer_norm(graph, x, {weight->reshape({columns}).contiguous(), added, epsilon},
                      scope.name());
  }
  Value result = layer_norm(graph, x, {ones, zeros, epsilon}, scope.name());
  result = binary(graph, result, scale, BinaryFunction::kMultiply, scope.name());
  return bias.valid() ? add(graph, result, bias, scope.name()) : result;
}

Value rms_normalised(NodeScope& scope, Value x, Value scale, double epsilon) {
  GraphBuilder& graph = scope.graph();
  const int64_t columns = columns_of(graph.shape(x));
  const Tensor* weight = graph.known(scale);
  if (weight != nullptr && weight->size() == columns) {
    return rms_norm(graph, x, weight->reshape({columns}).contiguous(), epsilon, scope.name());
  }
  const Tensor ones = filled(columns, 1, graph.type(x).dtype);
  const Value result = rms_norm(graph, x, ones, epsilon, scope.name());
  return binary(graph, result, scale, BinaryFunction::kMultiply, scope.name());
}

}  // namespace whyformer::onnx
