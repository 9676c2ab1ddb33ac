// Integer arithmetic of quantised models. Quantised values are held as floats with whole values; their
// gradient passes rounding and clamping to the range straight through (0 where a value was cut off).
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

// Whole numbers that a quantised type can hold.
struct QuantisedRange {
  double least = 0;
  double most = 255;
};

// clamp(round_half_even(x / scale) + zero): scale and zero are scalars, or vectors along `axis`.
Value quantise(GraphBuilder& graph, Value x, Value scale, Value zero, int axis,
               QuantisedRange range, std::string name);
// (x - zero) · scale.
Value dequantise(GraphBuilder& graph, Value x, Value scale, Value zero, int axis, std::string name);

// ONNX DynamicQuantizeLinear to unsigned 8 bits: {values, scale, zero}. Scale and zero have no gradient.
std::vector<Value> quantise_dynamically(GraphBuilder& graph, Value x, std::string name);

// (a - a_zero)·(b - b_zero) exactly, for whole values of at most 9 bits; zeros may be invalid, scalars,
// one per row of a, or one per column of b.
Value integer_matmul(GraphBuilder& graph, Value a, Value b, Value a_zero, Value b_zero,
                     std::string name);

}  // namespace whyformer
