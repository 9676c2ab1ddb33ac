// MatMul, Gemm, Einsum and their fused forms. A product with a known matrix is a Linear.
#include <fmt/format.h>

#include "onnx/operators.h"
#include "onnx/translations/einsum.h"
#include "onnx/translations/parts.h"
#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// Doubles hold the sums of integers exactly up to 2^53.
Value product_of_integers(NodeScope& scope) {
  GraphBuilder& graph = scope.graph();
  const auto in_doubles = [&](size_t index) {
    return cast(graph, scope.input(index), DType::kFloat64, false, scope.name());
  };
  const Value result =
      cast(graph, product(scope, in_doubles(0), in_doubles(1)), DType::kInt64, false, scope.name());
  scope.set_element(result, scope.element(0));
  return result;
}

std::vector<Value> translate_matmul(NodeScope& scope) {
  if (scope.dtype(0) == DType::kInt64 && scope.dtype(1) == DType::kInt64)
    return {product_of_integers(scope)};
  return {product(scope, scope.input(0), scope.input(1))};
}

Value swapped(NodeScope& scope, Value x) {
  const int rank = static_cast<int>(scope.graph().shape(x).size());
  if (rank < 2) return x;
  std::vector<int> order(rank);
  for (int axis = 0; axis < rank; ++axis) order[axis] = axis;
  std::swap(order[rank - 1], order[rank - 2]);
  return transpose(scope.graph(), x, order, scope.name());
}

// The addend of a Gemm as a bias of a Linear, if it is one.
Tensor bias_of(NodeScope& scope, int64_t columns, double factor) {
  const Tensor* addend = scope.has(2) ? scope.known(2) : nullptr;
  if (addend == nullptr || (addend->size() != 1 && addend->size() != columns)) return {};
  if (addend->size() == columns && addend->rank() > 0 && addend->dim(-1) != columns) return {};
  if (addend->size() == columns && factor == 1) return addend->reshape({columns});
  const std::vector<double> numbers = addend->to_doubles();
  std::vector<double> bias(columns);
  for (int64_t i = 0; i < columns; ++i) bias[i] = factor * numbers[numbers.size() == 1 ? 0 : i];
  return Tensor::of<double>({columns}, bias).cast(addend->dtype());
}

std::vector<Value> translate_gemm(NodeScope& scope) {
  const double alpha = scope.real("alpha", 1), beta = scope.real("beta", 1);
  const bool transposed = scope.integer("transB", 0) != 0;
  Value a = scope.input(0);
  if (scope.integer("transA", 0) != 0) a = swapped(scope, a);
  const Tensor* weight = scope.known(1);
  const bool has_addend = scope.has(2) && beta != 0;
  if (weight != nullptr && weight->rank() == 2 && weight->dtype() != DType::kInt64 && alpha == 1) {
    const Tensor bias =
        has_addend ? bias_of(scope, weight->dim(transposed ? 0 : 1), beta) : Tensor();
    if (bias.defined() || !has_addend) {
      return {
          linear(scope.graph(), a, scope.linear_weights(*weight, transposed, bias), scope.name())};
    }
  }
  Value b = scope.input(1);
  if (transposed) b = swapped(scope, b);
  Value result = scaled(scope, product(scope, a, b), alpha);
  if (has_addend) {
    result = add(scope.graph(), result, scaled(scope, scope.input(2), beta), scope.name());
  }
  return {result};
}

std::vector<Value> translate_fused_gemm(NodeScope& scope) {
  const Value result = translate_gemm(scope)[0];
  return {activated(scope, result, scope.text("activation", ""))};
}

// The axes of a stack with the batch axes moved behind the rows, as transBatch says.
Value batch_behind_rows(NodeScope& scope, Value x) {
  const int rank = static_cast<int>(scope.graph().shape(x).size());
  if (rank < 2) return x;
  std::vector<int> order;
  for (int axis = 1; axis < rank - 1; ++axis) order.push_back(axis);
  order.push_back(0);
  order.push_back(rank - 1);
  return transpose(scope.graph(), x, order, scope.name());
}

std::vector<Value> translate_fused_matmul(NodeScope& scope) {
  Value a = scope.input(0), b = scope.input(1);
  if (scope.integer("transBatchA", 0) != 0) a = batch_behind_rows(scope, a);
  if (scope.integer("transBatchB", 0) != 0) b = batch_behind_rows(scope, b);
  if (scope.integer("transA", 0) != 0) a = swapped(scope, a);
  if (scope.integer("transB", 0) != 0) b = swapped(scope, b);
  return {scaled(scope, product(scope, a, b), scope.real("alpha", 1))};
}

std::vector<Value> translate_einsum(NodeScope& scope) {
  std::vector<Value> operands;
  for (size_t index = 0; index < scope.count(); ++index) operands.push_back(scope.input(index));
  return {einsum(scope, scope.text("equation", ""), operands)};
}

constexpr OnnxOperator kOperators[] = {
    {"", "MatMul", translate_matmul},
    {"", "Gemm", translate_gemm},
    {"", "Einsum", translate_einsum},
    {kMicrosoft, "FusedMatMul", translate_fused_matmul},
    {kMicrosoft, "FusedGemm", translate_fused_gemm},
};

}  // namespace

std::span<const OnnxOperator> product_operators() { return kOperators; }

}  // namespace whyformer::onnx
