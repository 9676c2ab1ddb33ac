// Every operator. Its type and the function that adds it to a graph are declared with those of its
// family (the headers below); its value, gradient, relevance and axes are in the file of its line.
#pragma once

#include <array>
#include <string_view>

#include "graph/constant.h"
#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/layers.h"
#include "ops/pictures.h"
#include "ops/quantised.h"

namespace whyformer {

template <class... Types>
struct OperatorList {
  static constexpr std::array<std::string_view, sizeof...(Types)> kKinds{Types::kKind...};
};

// In the order of the alphabet.
using Operators = OperatorList<  //
    ops::Abs,                    // unary.cpp
    ops::Activation,             // activation.cpp
    ops::Add,                    // add.cpp
    ops::And,                    // comparison.cpp
    ops::ArgMax,                 // arg_best.cpp
    ops::ArgMin,                 // arg_best.cpp
    ops::AveragePool,            // pooling.cpp
    ops::Cast,                   // cast.cpp
    ops::Ceil,                   // unary.cpp
    ops::Concat,                 // concat.cpp
    Constant,                    // graph/constant.h
    ops::Conv,                   // convolution.cpp
    ops::ConvProduct,            // convolution.cpp
    ops::ConvTranspose,          // transposed_convolution.cpp
    ops::Cos,                    // unary.cpp
    ops::CumSum,                 // cumulative_sum.cpp
    ops::DequantizeLinear,       // quantise.cpp
    ops::Div,                    // binary.cpp
    ops::DynamicScale,           // quantise.cpp
    ops::Elu,                    // bent_functions.cpp
    ops::Embedding,              // embedding.cpp
    ops::Equal,                  // comparison.cpp
    ops::Erf,                    // unary.cpp
    ops::Exp,                    // unary.cpp
    ops::Expand,                 // expand.cpp
    ops::Floor,                  // unary.cpp
    ops::Gather,                 // gather.cpp
    ops::GatherElements,         // gather_elements.cpp
    ops::GatherND,               // gather_nd.cpp
    ops::Greater,                // comparison.cpp
    ops::GreaterOrEqual,         // comparison.cpp
    ops::GridSample,             // grid_sample.cpp
    ops::HardSigmoid,            // bent_functions.cpp
    ops::HardSwish,              // bent_functions.cpp
    ops::IsNaN,                  // unary.cpp
    ops::L2Normalise,            // l2_normalise.cpp
    ops::LayerNorm,              // layer_norm.cpp
    ops::LeakyRelu,              // bent_functions.cpp
    ops::Less,                   // comparison.cpp
    ops::LessOrEqual,            // comparison.cpp
    ops::Linear,                 // linear.cpp, integer_matmul.cpp, quantised_linear.cpp
    ops::Log,                    // unary.cpp
    ops::MatMul,                 // matmul.cpp, integer_matmul.cpp
    ops::Max,                    // binary.cpp
    ops::MaxPool,                // pooling.cpp
    ops::Mean,                   // mean.cpp
    ops::Min,                    // binary.cpp
    ops::Mod,                    // binary.cpp
    ops::Mul,                    // binary.cpp
    ops::Neg,                    // unary.cpp
    ops::Not,                    // unary.cpp
    ops::OneHot,                 // one_hot.cpp
    ops::Or,                     // comparison.cpp
    ops::Pad,                    // pad.cpp
    ops::Pow,                    // binary.cpp
    ops::QuantizeLinear,         // quantise.cpp
    ops::QuickGelu,              // bent_functions.cpp
    ops::Reciprocal,             // unary.cpp
    ops::ReduceL1,               // reduce.cpp
    ops::ReduceL2,               // reduce.cpp
    ops::ReduceLogSumExp,        // reduce.cpp
    ops::ReduceMax,              // reduce.cpp
    ops::ReduceMean,             // reduce.cpp
    ops::ReduceMin,              // reduce.cpp
    ops::ReduceProd,             // reduce.cpp
    ops::ReduceSum,              // reduce.cpp
    ops::ReduceSumSquare,        // reduce.cpp
    ops::Reshape,                // reshape.cpp
    ops::Resize,                 // resize.cpp
    ops::RmsNorm,                // rms_norm.cpp
    ops::Round,                  // unary.cpp
    ops::ScatterElements,        // scatter.cpp
    ops::ScatterND,              // scatter.cpp
    ops::Sign,                   // unary.cpp
    ops::Sin,                    // unary.cpp
    ops::Slice,                  // slice.cpp
    ops::Softmax,                // softmax.cpp
    ops::Softplus,               // unary.cpp
    ops::Sqrt,                   // unary.cpp
    ops::StridedSlice,           // strided_slice.cpp
    ops::Sub,                    // add.cpp
    ops::Tile,                   // tile.cpp
    ops::TopK,                   // top_k.cpp
    ops::Transpose,              // transpose.cpp
    ops::Trilu,                  // triangle.cpp
    ops::Where,                  // where.cpp
    ops::Xor                     // comparison.cpp
    >;

// The names of all operators, as policies and `inspect` call them.
inline constexpr const auto& kOperatorKinds = Operators::kKinds;

}  // namespace whyformer
