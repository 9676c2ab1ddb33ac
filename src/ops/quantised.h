// Integer arithmetic of quantised models. Quantised values are held as floats with whole values;
// their gradient passes rounding straight through, and is 0 where a value was cut off at the range.
// Scales and zeros have no gradient; relevance passes unchanged.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/integer_weights.h"
#include "ops/pictures.h"

namespace whyformer {

namespace ops {
struct QuantizeLinear : NamedOp<"QuantizeLinear"> {};
struct DequantizeLinear : NamedOp<"DequantizeLinear"> {};
struct DynamicScale : NamedOp<"DynamicScale"> {};  // {scale, zero} of quantise_dynamically
}  // namespace ops

// Whole numbers that a quantised type can hold.
struct QuantisedRange {
  double least = 0;
  double most = 255;
};

// clamp(round_half_even(x / scale) + zero). Scale and zero are scalars, vectors along `axis`, or of
// x's rank and broadcast; an invalid zero is 0.
Value quantise(GraphBuilder& graph, Value x, Value scale, Value zero, int axis,
               QuantisedRange range, std::string name);
// (x - zero) · scale; an invalid scale is 1.
Value dequantise(GraphBuilder& graph, Value x, Value scale, Value zero, int axis, std::string name);

// Where a value has the inputs that run together: input p at the indices i of the axis where i /
// inner % count == p.
struct SampleAxis {
  int axis = 0;
  int64_t inner = 1;
  int64_t count = 1;  // 1: one input alone

  int64_t sample_at(int64_t index) const { return index / inner % count; }
};

// ONNX DynamicQuantizeLinear to unsigned 8 bits: {values, scale, zero}.
std::vector<Value> quantise_dynamically(GraphBuilder& graph, Value x, std::string name);

// (a - a_zero)·(b - b_zero) exactly, for whole values of at most 9 bits; zeros may be invalid,
// scalars, one per row of a, one per column of b, or of their operand's rank and broadcast. A known
// matrix b makes it a Linear in the eyes of policies, two stacks a MatMul.
Value integer_matmul(GraphBuilder& graph, Value a, Value b, Value a_zero, Value b_zero,
                     std::string name);

// The same for a matrix [out, in] that is packed once for many graphs, its zeros taken away.
Value integer_linear(GraphBuilder& graph, Value a, std::shared_ptr<const IntegerWeights> weights,
                     Value a_zero, std::string name);

// y = x·Wᵀ + bias where x is rounded as quantise_dynamically does and W is whole numbers times
// `scales` (one, or one per column of y): what DynamicQuantizeLinear → MatMulInteger → Mul → Add
// spell out. Its gradient and relevance are those of the Linear whose weights are the scaled ones.
Value quantised_linear(GraphBuilder& graph, Value x, std::shared_ptr<const IntegerWeights> weights,
                       const Tensor& scales, const Tensor& bias, std::string name);

// For rewrites. Null for operators that integer_linear or integer_matmul did not make.
std::shared_ptr<const IntegerWeights> integer_weights_of(const Op& op);

struct QuantisedLinearParts {
  std::shared_ptr<const IntegerWeights> weights;
  Tensor scales;
};
std::optional<QuantisedLinearParts> quantised_linear_parts(const Op& op);

// What rounds by the span of its numbers, with a span for each input of a batch. A Linear that
// rounds its input; and what gives {scale, zero}, which then have x's rank and that axis. Null for
// every other operator.
std::shared_ptr<const Op> rounding_by_sample(const Op& op, const SampleAxis& samples);
std::shared_ptr<const Op> scales_by_sample(const Op& op, const SampleAxis& samples);

// A convolution without bias of whole values of at most 9 bits, exactly.
Value integer_convolution(GraphBuilder& graph, Value x, Tensor weight, Window window,
                          std::string name);

}  // namespace whyformer
