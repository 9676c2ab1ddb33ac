#include "onnx/translations/quantised_parts.h"

#include <fmt/format.h>

#include "onnx/translations/parts.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "ops/quantised.h"
#include "tensor/map.h"

namespace whyformer::onnx {

Value as_floats(NodeScope& scope, Value x) {
  if (scope.graph().type(x).dtype == scope.floats()) return x;
  return cast(scope.graph(), x, scope.floats(), false, scope.name());
}

Value optional_floats(NodeScope& scope, size_t index) {
  return scope.has(index) ? as_floats(scope, scope.input(index)) : Value{};
}

Value dequantised_input(NodeScope& scope, size_t x, size_t scale, size_t zero, int axis) {
  const Value result = dequantise(scope.graph(), as_floats(scope, scope.input(x)),
                                  as_floats(scope, scope.input(scale)),
                                  optional_floats(scope, zero), axis, scope.name());
  scope.set_element(result, ElementType::kFloat);
  return result;
}

Value quantised_output(NodeScope& scope, Value x, size_t scale, size_t zero) {
  const ElementType type = scope.has(zero) ? scope.element(zero) : ElementType::kUint8;
  const IntegerRange range = range_of(type);
  const Value result =
      quantise(scope.graph(), x, as_floats(scope, scope.input(scale)), optional_floats(scope, zero),
               0, {range.least, range.most}, scope.name());
  scope.set_element(result, type);
  return result;
}

Value requantised(NodeScope& scope, Value sums, Value factor, int axis, size_t zero) {
  const ElementType type = scope.has(zero) ? scope.element(zero) : ElementType::kUint8;
  const IntegerRange range = range_of(type);
  const Value scaled = dequantise(scope.graph(), sums, factor, Value{}, axis, scope.name());
  const Value result =
      quantise(scope.graph(), scaled, scope.number_constant(1, scope.floats()),
               optional_floats(scope, zero), 0, {range.least, range.most}, scope.name());
  scope.set_element(result, type);
  return result;
}

namespace {

// A known matrix b [in, out] less its zeros, one for all or one per column, as weights [out, in].
Tensor centred_rows(const Tensor& rows, const Tensor& zero) {
  if (!zero.defined()) return rows;
  if (zero.dtype() != rows.dtype()) {
    throw InvalidInput("the matrix must be whole numbers of at most 16 bits, as its zeros are");
  }
  if (zero.size() != 1 && zero.size() != rows.dim(0)) {
    throw InvalidInput(fmt::format("{} zeros for {} columns", zero.size(), rows.dim(0)));
  }
  const Tensor spread = zero.reshape({zero.size(), 1}).expand(rows.shape());
  return map([](auto whole, auto z) { return whole - z; }, rows, spread);
}

// The same of bytes, where they lie.
std::shared_ptr<const WholeNumbers> rows_of_bytes(const FileTensor& matrix, bool turned,
                                                  const Tensor* zero) {
  StoredBytes bytes{.data = matrix.data,
                    .rows = matrix.shape[turned ? 0 : 1],
                    .columns = matrix.shape[turned ? 1 : 0],
                    .is_signed = matrix.type == ElementType::kInt8,
                    .transposed = !turned};
  if (zero == nullptr) return whole_numbers(std::move(bytes));
  for (const double number : zero->to_doubles()) bytes.zeros.push_back(static_cast<float>(number));
  return whole_numbers(std::move(bytes));
}

}  // namespace

Value integer_product(NodeScope& scope, Value a, Value a_zero, size_t b, Value b_zero,
                      StoredAs stored) {
  GraphBuilder& graph = scope.graph();
  const bool turned = stored == StoredAs::kColumns;
  const Tensor* matrix = scope.known(b);
  const Tensor* zero = b_zero.valid() ? graph.known(b_zero) : nullptr;
  if (matrix == nullptr || matrix->rank() != 2 || (b_zero.valid() && zero == nullptr)) {
    Value factor = scope.widened(b);
    if (turned) factor = transpose(graph, factor, {1, 0}, scope.name());
    return integer_matmul(graph, a, factor, a_zero, b_zero, scope.name());
  }
  std::vector<Tensor> from{*matrix};
  if (zero != nullptr) from.push_back(*zero);
  const FileTensor* bytes = scope.narrow(b);
  const auto weights = scope.made_once<IntegerWeights>(from, [&] {
    if (bytes != nullptr)
      return std::make_shared<const IntegerWeights>(rows_of_bytes(*bytes, turned, zero));
    return std::make_shared<const IntegerWeights>(centred_rows(
        turned ? *matrix : matrix->transpose(0, 1), zero != nullptr ? *zero : Tensor()));
  });
  return integer_linear(graph, a, weights, a_zero, scope.name());
}

Value multiplied(NodeScope& scope, Value a, Value b) {
  return binary(scope.graph(), a, b, BinaryFunction::kMultiply, scope.name());
}

Value divided(NodeScope& scope, Value a, Value b) {
  return binary(scope.graph(), a, b, BinaryFunction::kDivide, scope.name());
}

Value row_scale(NodeScope& scope, Value scale) {
  const Shape shape = scope.graph().shape(scale);
  if (shape.size() != 1) return scale;
  return reshaped(scope, scale, shape[0] == 1 ? Shape{} : Shape{shape[0], 1});
}

}  // namespace whyformer::onnx
