// ONNX's operators on quantised values.
#include "ops/quantised.h"

#include <fmt/format.h>

#include "onnx/operators.h"
#include "onnx/translations/parts.h"
#include "onnx/translations/quantised_parts.h"
#include "onnx/translations/windows.h"
#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

// One number per block of an axis as one per position.
Value spread_blocks(NodeScope& scope, Value numbers, const Shape& x, int axis, int64_t block) {
  if (!numbers.valid()) return numbers;
  GraphBuilder& graph = scope.graph();
  Shape shape = graph.shape(numbers);
  if (shape.size() != x.size() || shape[axis] != (x[axis] + block - 1) / block) {
    throw InvalidInput(fmt::format("scales {} for blocks of {} along axis {} of an input {}",
                                   to_string(shape), block, axis, to_string(x)));
  }
  Shape split = shape;
  split.insert(split.begin() + axis + 1, 1);
  numbers = reshaped(scope, numbers, split);
  split[axis + 1] = block;
  numbers = expand(graph, numbers, split, scope.name());
  shape[axis] *= block;
  numbers = reshaped(scope, numbers, shape);
  return slice(graph, numbers, axis, 0, x[axis], scope.name());
}

// Scale and zero of QuantizeLinear and DequantizeLinear.
struct Scaling {
  Value scale, zero;
  int axis = 0;

  explicit Scaling(NodeScope& scope)
      : scale(as_floats(scope, scope.input(1))), zero(optional_floats(scope, 2)) {
    const Shape x = scope.shape(0);
    const int64_t block = scope.integer("block_size", 0);
    const bool single = element_count(scope.shape(1)) == 1;
    if (single && block == 0) return;
    axis = scope.axis(scope.integer("axis", 1), scope.rank(0));
    if (block < 0 || block > int64_t{1} << 31) {
      throw InvalidInput(fmt::format("blocks of {}", block));
    }
    if (block == 0) return;
    scale = spread_blocks(scope, scale, x, axis, block);
    zero = spread_blocks(scope, zero, x, axis, block);
  }
};

std::vector<Value> translate_quantise(NodeScope& scope) {
  ElementType type = ElementType::kUint8;
  if (scope.has(2))
    type = scope.element(2);
  else if (const int64_t given = scope.integer("output_dtype", 0); given != 0) {
    type = element_type(static_cast<int>(given),
                        "the output of QuantizeLinear '" + scope.name() + "'");
  }
  if (is_float(type) || bits_of(type) > 16) scope.fail("quantises to " + name_of(type));
  const Scaling scaling(scope);
  const IntegerRange range = range_of(type);
  const Value y = quantise(scope.graph(), as_floats(scope, scope.input(0)), scaling.scale,
                           scaling.zero, scaling.axis, {range.least, range.most}, scope.name());
  scope.set_element(y, type);
  return {y};
}

std::vector<Value> translate_dequantise(NodeScope& scope) {
  const Scaling scaling(scope);
  const Value y = dequantise(scope.graph(), as_floats(scope, scope.input(0)), scaling.scale,
                             scaling.zero, scaling.axis, scope.name());
  scope.set_element(y, scope.element(1));
  return {y};
}

std::vector<Value> translate_dynamic_quantise(NodeScope& scope) {
  const std::vector<Value> made = quantise_dynamically(scope.graph(), scope.input(0), scope.name());
  scope.set_element(made[0], ElementType::kUint8);
  scope.set_element(made[1], ElementType::kFloat);
  scope.set_element(made[2], ElementType::kUint8);
  return made;
}

// Sums are 32-bit integers to ONNX; here they are whole floats, which have gradients.
std::vector<Value> translate_integer_matmul(NodeScope& scope) {
  const Value sums = integer_product(scope, scope.input(0), optional_floats(scope, 2), 1,
                                     optional_floats(scope, 3));
  scope.set_element(sums, ElementType::kInt32);
  return {sums};
}

Value centred(NodeScope& scope, Value x, Value zero, int axis) {
  return zero.valid() ? dequantise(scope.graph(), x, Value{}, zero, axis, scope.name()) : x;
}

Value integer_convolution_of(NodeScope& scope, size_t x, size_t x_zero, size_t w, size_t w_zero) {
  const Shape weight_shape = scope.shape(w);
  if (weight_shape.size() < 3) {
    throw InvalidInput(fmt::format("weights of shape {}", to_string(weight_shape)));
  }
  scope.needed(w);
  const Value weight = centred(scope, scope.input(w), optional_floats(scope, w_zero), 0);
  const Tensor* known = scope.graph().known(weight);
  if (known == nullptr) scope.fail("has zeros of its weights that depend on the model's inputs");
  const Window window =
      window_of(scope, scope.shape(x), {weight_shape.begin() + 2, weight_shape.end()});
  // Pads are what stands for 0, so they come after the zero is taken away.
  const Value image = centred(scope, scope.input(x), optional_floats(scope, x_zero), 1);
  return integer_convolution(scope.graph(), image, *known, window, scope.name());
}

std::vector<Value> translate_integer_convolution(NodeScope& scope) {
  const Value sums = integer_convolution_of(scope, 0, 2, 1, 3);
  scope.set_element(sums, ElementType::kInt32);
  return {sums};
}

std::vector<Value> translate_quantised_convolution(NodeScope& scope) {
  Value sums = integer_convolution_of(scope, 0, 2, 3, 5);
  if (scope.has(8)) {
    Shape spread(scope.rank(0) - 1, 1);
    spread[0] = element_count(scope.shape(8));
    const Value bias = reshaped(scope, as_floats(scope, scope.input(8)), spread);
    sums = add(scope.graph(), sums, bias, scope.name());
  }
  const Value factor =
      divided(scope, multiplied(scope, scope.input(1), scope.input(4)), scope.input(6));
  return {requantised(scope, sums, factor, 1, 7)};
}

std::vector<Value> translate_quantised_matmul(NodeScope& scope) {
  const Value sums = integer_product(scope, scope.input(0), optional_floats(scope, 2), 3,
                                     optional_floats(scope, 5));
  const Value factor = divided(
      scope, multiplied(scope, row_scale(scope, scope.input(1)), scope.input(4)), scope.input(6));
  const int columns = static_cast<int>(scope.graph().shape(sums).size()) - 1;
  return {requantised(scope, sums, factor, columns, 7)};
}

constexpr OnnxOperator kOperators[] = {
    {"", "QuantizeLinear", translate_quantise},
    {"", "DequantizeLinear", translate_dequantise},
    {"", "DynamicQuantizeLinear", translate_dynamic_quantise},
    {"", "MatMulInteger", translate_integer_matmul},
    {"", "ConvInteger", translate_integer_convolution},
    {"", "QLinearMatMul", translate_quantised_matmul},
    {"", "QLinearConv", translate_quantised_convolution},
    {kMicrosoft, "QuantizeLinear", translate_quantise},
    {kMicrosoft, "DequantizeLinear", translate_dequantise},
};

}  // namespace

std::span<const OnnxOperator> quantised_operators() { return kOperators; }

}  // namespace whyformer::onnx
