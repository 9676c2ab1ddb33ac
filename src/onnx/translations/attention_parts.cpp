#include "onnx/translations/attention_parts.h"

#include <cmath>
#include <limits>

#include "onnx/translations/parts.h"
#include "ops/arithmetic.h"
#include "ops/helpers.h"
#include "ops/ops.h"

namespace whyformer::onnx {

Value split_heads(NodeScope& scope, Value x, int64_t heads) {
  const Shape shape = scope.graph().shape(x);
  if (shape.size() != 3 || shape[2] % heads != 0) {
    throw InvalidInput("an operand of shape " + to_string(shape) + " cannot be split into " +
                       std::to_string(heads) + " heads");
  }
  return permuted(scope, reshaped(scope, x, {shape[0], shape[1], heads, shape[2] / heads}),
                  {0, 2, 1, 3});
}

Value merge_heads(NodeScope& scope, Value x) {
  const Shape shape = scope.graph().shape(x);
  return reshaped(scope, permuted(scope, x, {0, 2, 1, 3}),
                  {shape[0], shape[2], shape[1] * shape[3]});
}

namespace {

Value with_bias(NodeScope& scope, Value scores, Value bias) {
  const Shape& shape = scope.graph().shape(scores);
  if (broadcast(shape, scope.graph().shape(bias)) != shape) {
    throw InvalidInput("the bias " + to_string(scope.graph().shape(bias)) +
                       " does not fit the scores " + to_string(shape));
  }
  return add(scope.graph(), scores, bias, scope.name());
}

}  // namespace

Attended attend(NodeScope& scope, const Operands& operands, const Masks& masks, double scale,
                double cap) {
  GraphBuilder& graph = scope.graph();
  Attended result;
  for (const Value operand : {operands.q, operands.k, operands.v}) {
    if (graph.shape(operand).size() != 4) {
      throw InvalidInput("an operand must have 4 axes but has the shape " +
                         to_string(graph.shape(operand)));
    }
  }
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(graph.shape(operands.q)[3]));
  result.scale = scale;
  const Value keys = transpose(graph, operands.k, {0, 1, 3, 2}, scope.name());
  result.scores = matmul(graph, operands.q, keys, scope.name());
  result.capped = scaled(scope, result.scores, scale);
  Value unscaled = result.scores;
  if (cap != 0) {
    unscaled = activation(graph, scaled(scope, result.capped, 1 / cap), ActivationFunction::kTanh,
                          scope.name());
    result.capped = scaled(scope, unscaled, cap);
    scale = cap;
  }
  result.masked = result.capped;
  if (masks.varying().valid()) {
    result.masked = with_bias(scope, result.masked, masks.varying());
    unscaled = result.masked;
    scale = 1;
  }
  result.map = softmax(graph, unscaled, masks.constant(), scale, scope.name());
  if (masks.constant().valid()) {
    result.masked = add(graph, result.masked, masks.constant(), scope.name());
  }
  result.context = matmul(graph, result.map, operands.v, scope.name());
  return result;
}

void Masks::add(Value mask) {
  Value& sum = scope_.graph().varies(mask) ? varying_ : constant_;
  sum = sum.valid() ? whyformer::add(scope_.graph(), sum, mask, scope_.name()) : mask;
}

void Masks::add_kept(Value kept, double filter) {
  const Value seen = scope_.number_constant(0, scope_.floats());
  const Value hidden = scope_.number_constant(filter, scope_.floats());
  add(where(scope_.graph(), kept, seen, hidden, scope_.name()));
}

// 0, 1, 2… along one of the four axes of a map.
Value Masks::numbers(int axis, int64_t count) {
  Shape shape{1, 1, 1, 1};
  shape[axis] = count;
  return scope_.constant(counted(count).reshape(shape));
}

void Masks::add_lengths(Value lengths, double filter) {
  const int64_t batch = element_count(scope_.graph().shape(lengths));
  const Value ends = reshaped(scope_, lengths, {batch, 1, 1, 1});
  add_kept(binary(scope_.graph(), numbers(3, keys_), ends, BinaryFunction::kLess, scope_.name()),
           filter);
}

void Masks::add_causal() { add_causal(keys_ - queries_); }

void Masks::add_causal(int64_t past) {
  add_window(scope_.constant(Tensor::of<int64_t>({1}, {past})), -1, 0);
}

void Masks::add_window(Value offset, int64_t in_front, int64_t behind) {
  GraphBuilder& graph = scope_.graph();
  const double hidden = -std::numeric_limits<double>::infinity();
  const Value start = reshaped(scope_, offset, {element_count(graph.shape(offset)), 1, 1, 1});
  const Value own = whyformer::add(graph, numbers(2, queries_), start, scope_.name());
  const Value distance =
      binary(graph, numbers(3, keys_), own, BinaryFunction::kSubtract, scope_.name());
  const auto keep = [&](BinaryFunction compare, int64_t limit) {
    const Value bound = scope_.constant(Tensor::of<int64_t>({1}, {limit}));
    add_kept(binary(graph, distance, bound, compare, scope_.name()), hidden);
  };
  if (behind >= 0) keep(BinaryFunction::kLessOrEqual, behind);
  if (in_front >= 0) keep(BinaryFunction::kGreaterOrEqual, -in_front);
}

void Masks::add_microsoft(Value mask, int64_t batch, double filter) {
  GraphBuilder& graph = scope_.graph();
  const Shape shape = graph.shape(mask);
  if (shape.size() == 1 && shape[0] == batch) return add_lengths(mask, filter);
  if (shape.size() == 1 && shape[0] == 2 * batch) {
    add_lengths(slice(graph, mask, 0, 0, batch, scope_.name()), filter);
    const Value starts =
        reshaped(scope_, slice(graph, mask, 0, batch, batch, scope_.name()), {batch, 1, 1, 1});
    return add_kept(
        binary(graph, numbers(3, keys_), starts, BinaryFunction::kGreaterOrEqual, scope_.name()),
        filter);
  }
  if (shape.size() == 2 && shape[1] == keys_) {
    return add_kept(reshaped(scope_, mask, {shape[0], 1, 1, shape[1]}), filter);
  }
  if (shape.size() == 3 && shape[2] == keys_) {
    return add_kept(reshaped(scope_, mask, {shape[0], 1, shape[1], shape[2]}), filter);
  }
  scope_.fail("has a mask of shape " + to_string(shape) + ", which is not known");
}

}  // namespace whyformer::onnx
