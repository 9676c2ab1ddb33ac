// Operators that make constants: shapes, ranges, stored and filled tensors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx/operators.h"
#include "ops/element_moves.h"
#include "ops/gathering.h"

namespace whyformer::onnx {
namespace {

Value integer_constant(NodeScope& scope, Shape shape, const std::vector<int64_t>& values) {
  const Value result = scope.constant(Tensor::of<int64_t>(std::move(shape), std::span(values)));
  scope.set_element(result, ElementType::kInt64);
  return result;
}

std::vector<Value> translate_shape(NodeScope& scope) {
  const Shape& shape = scope.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto counted = [rank](int64_t axis) {
    return std::clamp<int64_t>(axis < -rank ? 0 : axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t start = counted(scope.integer("start", 0));
  const int64_t end = std::max(start, counted(scope.integer("end", rank)));
  const std::vector<int64_t> lengths(shape.begin() + start, shape.begin() + end);
  return {integer_constant(scope, {end - start}, lengths)};
}

std::vector<Value> translate_size(NodeScope& scope) {
  return {integer_constant(scope, {}, {element_count(scope.shape(0))})};
}

Value float_constant(NodeScope& scope, Shape shape, const std::vector<double>& values) {
  const Tensor tensor = Tensor::of<double>(std::move(shape), std::span(values));
  const Value result = scope.constant(tensor.cast(scope.floats()));
  scope.set_element(result, ElementType::kFloat);
  return result;
}

std::vector<Value> translate_constant(NodeScope& scope) {
  if (const FileTensor* stored = scope.stored("value")) {
    const Value result = scope.constant(stored->tensor(scope.floats()));
    scope.set_element(result, stored->type);
    return {result};
  }
  if (scope.has_attribute("value_float")) {
    return {float_constant(scope, {}, {scope.real("value_float", 0)})};
  }
  if (scope.has_attribute("value_int")) {
    return {integer_constant(scope, {}, {scope.integer("value_int", 0)})};
  }
  if (scope.has_attribute("value_floats")) {
    const std::vector<double> values = scope.real_list("value_floats");
    return {float_constant(scope, {static_cast<int64_t>(values.size())}, values)};
  }
  if (scope.has_attribute("value_ints")) {
    const std::vector<int64_t> values = scope.integer_list("value_ints");
    return {integer_constant(scope, {static_cast<int64_t>(values.size())}, values)};
  }
  scope.fail("holds neither a tensor nor numbers");
}

// One number seen as a whole tensor: a view, so that its size costs nothing.
std::vector<Value> translate_constant_of_shape(NodeScope& scope) {
  const Shape shape = scope.integers(0);
  ElementType type = ElementType::kFloat;
  Tensor value = Tensor::zeros({}, scope.floats());
  if (const FileTensor* stored = scope.stored("value")) {
    type = stored->type;
    value = stored->tensor(scope.floats());
    if (value.size() != 1) {
      throw InvalidInput("the value must be one number but has the shape " +
                         to_string(value.shape()));
    }
  }
  const Value result =
      expand(scope.graph(), scope.constant(value.reshape({})), shape, scope.name());
  scope.set_element(result, type);
  return {result};
}

constexpr uint64_t kMostSteps = uint64_t{1} << 24;  // longer than any axis of a model

// How many steps lead from start to limit, exactly; distances may be longer than 2^63.
uint64_t step_count(int64_t start, int64_t limit, int64_t delta) {
  if (delta > 0 ? limit <= start : limit >= start) return 0;
  const auto from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(limit);
  const auto step = static_cast<uint64_t>(delta);
  return delta > 0 ? (to - from - 1) / step + 1 : (from - to - 1) / (0 - step) + 1;
}

uint64_t step_count(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (!(count < 0x1p62)) return std::numeric_limits<uint64_t>::max();
  return count > 0 ? static_cast<uint64_t>(count) : 0;
}

template <typename T>
Tensor range(const Tensor& start, const Tensor& limit, const Tensor& delta) {
  const T first = start.data<T>()[0], step = delta.data<T>()[0];
  const T last = limit.data<T>()[0];
  if (step == 0) throw InvalidInput("a range in steps of 0 does not end");
  const uint64_t steps = step_count(first, last, step);
  if (steps > kMostSteps) {
    throw InvalidInput(
        fmt::format("the range from {} to {} in steps of {} is too long", first, last, step));
  }
  const auto count = static_cast<int64_t>(steps);
  Tensor result = Tensor::empty({count}, dtype_of<T>());
  T* out = result.mutable_data<T>();
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_same_v<T, int64_t>)
      out[i] = first + i * step;
    else
      out[i] = static_cast<T>(static_cast<double>(first) + static_cast<double>(i) * step);
  }
  return result;
}

std::vector<Value> translate_range(NodeScope& scope) {
  Tensor ends[3];
  for (size_t i = 0; i < 3; ++i) {
    scope.number(i);
    ends[i] = scope.needed(i).cast(scope.dtype(0));
  }
  const Value result = scope.constant(with_element_type(
      scope.dtype(0), [&](auto zero) { return range<decltype(zero)>(ends[0], ends[1], ends[2]); }));
  scope.set_element(result, scope.element(0));
  return {result};
}

constexpr int64_t kLongest = 1 << 13;  // rows and columns of an identity

std::vector<Value> translate_eye_like(NodeScope& scope) {
  const Shape shape = scope.shape(0);
  if (shape.size() != 2) {
    throw InvalidInput("a matrix is needed but the shape is " + to_string(shape));
  }
  if (shape[0] > kLongest || shape[1] > kLongest) {
    throw InvalidInput(fmt::format("a matrix {} is too large", to_string(shape)));
  }
  ElementType type = scope.element(0);
  if (scope.has_attribute("dtype")) {
    type = element_type(static_cast<int>(scope.integer("dtype", 1)), scope.name());
  }
  const int64_t offset = std::clamp(scope.integer("k", 0), -shape[0], shape[1]);
  Tensor eye = Tensor::zeros(shape, held_as(type, scope.floats()));
  const int64_t first_row = std::max<int64_t>(0, -offset);
  for (int64_t row = first_row; row < shape[0] && row + offset < shape[1]; ++row) {
    eye.slice(0, row, 1).slice(1, row + offset, 1).fill(1);
  }
  const Value result = scope.constant(eye);
  scope.set_element(result, type);
  return {result};
}

constexpr OnnxOperator kOperators[] = {
    {"", "Constant", translate_constant}, {"", "ConstantOfShape", translate_constant_of_shape},
    {"", "EyeLike", translate_eye_like},  {"", "Range", translate_range},
    {"", "Shape", translate_shape},       {"", "Size", translate_size},
};

}  // namespace

std::span<const OnnxOperator> making_operators() { return kOperators; }

}  // namespace whyformer::onnx
