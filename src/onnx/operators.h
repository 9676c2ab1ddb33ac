// The operators that can be imported, by domain and name. A family of operators is a file with a
// list; each entry turns one ONNX node into nodes of our graph.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "onnx/node_scope.h"

namespace whyformer::onnx {

struct OnnxOperator {
  std::string_view domain;  // empty for ai.onnx
  std::string_view kind;
  // One value per output of the node (more may be given; an invalid one where nothing is made).
  std::vector<Value> (*translate)(NodeScope& scope);
};

inline constexpr std::string_view kMicrosoft = "com.microsoft";

std::span<const OnnxOperator> elementwise_operators();  // Add, Sqrt, Where, Cast …
std::span<const OnnxOperator> reduction_operators();    // ReduceMean, ArgMax, CumSum, TopK …
std::span<const OnnxOperator> layout_operators();       // Reshape, Slice, Concat …
std::span<const OnnxOperator> making_operators();       // Constant, Shape, Range …
std::span<const OnnxOperator> gathering_operators();    // Gather, ScatterND, OneHot, NonZero …
std::span<const OnnxOperator> product_operators();      // MatMul, Gemm, Einsum
std::span<const OnnxOperator> normalising_operators();  // Softmax, LayerNormalization …
std::span<const OnnxOperator> picture_operators();      // Conv, MaxPool, Resize, GridSample …
std::span<const OnnxOperator> attention_operators();    // Attention, MultiHeadAttention, rotary …
std::span<const OnnxOperator> quantised_operators();    // QuantizeLinear, MatMulInteger …
std::span<const OnnxOperator> fused_quantised_operators();  // QLinearAdd, MatMulNBits …

std::vector<OnnxOperator> all_operators();

// Null if there is none.
const OnnxOperator* find_operator(std::string_view domain, std::string_view kind);

}  // namespace whyformer::onnx
