#include "formats/onnx/attention_parts.h"

#include <cmath>
#include <limits>

#include "formats/onnx/parts.h"
#include "ops/arithmetic.h"
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

Attended attend(NodeScope& scope, const Operands& operands, Value mask, double scale) {
  GraphBuilder& graph = scope.graph();
  Attended result;
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(graph.shape(operands.q).at(3)));
  result.scale = scale;
  const Value keys = transpose(graph, operands.k, {0, 1, 3, 2}, scope.name());
  result.scores = matmul(graph, operands.q, keys, scope.name());
  result.map = softmax(graph, result.scores, mask, scale, scope.name());
  result.context = matmul(graph, result.map, operands.v, scope.name());
  return result;
}

void Masks::add(Value mask) {
  sum_ = sum_.valid() ? whyformer::add(scope_.graph(), sum_, mask, scope_.name()) : mask;
}

void Masks::add_kept(Value kept, double filter) {
  const Value seen = scope_.number_constant(0, scope_.floats());
  const Value hidden = scope_.number_constant(filter, scope_.floats());
  add(where(scope_.graph(), kept, seen, hidden, scope_.name()));
}

// 0, 1, 2… along the keys.
Value Masks::key_numbers() {
  std::vector<int64_t> numbers(keys_);
  for (int64_t i = 0; i < keys_; ++i) numbers[i] = i;
  return scope_.constant(
      Tensor::of<int64_t>({1, 1, 1, keys_}, std::span<const int64_t>(numbers)));
}

void Masks::add_lengths(Value lengths, double filter) {
  const int64_t batch = element_count(scope_.graph().shape(lengths));
  const Value ends = reshaped(scope_, lengths, {batch, 1, 1, 1});
  add_kept(binary(scope_.graph(), key_numbers(), ends, BinaryFunction::kLess, scope_.name()), filter);
}

void Masks::add_causal() { add_causal(keys_ - queries_); }

void Masks::add_causal(int64_t past) {
  std::vector<int64_t> kept(queries_ * keys_);
  for (int64_t i = 0; i < queries_; ++i) {
    for (int64_t j = 0; j < keys_; ++j) kept[i * keys_ + j] = j <= i + past;
  }
  add_kept(scope_.constant(Tensor::of<int64_t>({1, 1, queries_, keys_},
                                               std::span<const int64_t>(kept))),
           -std::numeric_limits<double>::infinity());
}

void Masks::add_microsoft(Value mask, int64_t batch, double filter) {
  GraphBuilder& graph = scope_.graph();
  const Shape shape = graph.shape(mask);
  if (shape.size() == 1 && shape[0] == batch) return add_lengths(mask, filter);
  if (shape.size() == 1 && shape[0] == 2 * batch) {
    add_lengths(slice(graph, mask, 0, 0, batch, scope_.name()), filter);
    const Value starts =
        reshaped(scope_, slice(graph, mask, 0, batch, batch, scope_.name()), {batch, 1, 1, 1});
    return add_kept(binary(graph, key_numbers(), starts, BinaryFunction::kGreaterOrEqual,
                           scope_.name()),
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
