// The names of all operators, as policies and `inspect` call them, in the order of the alphabet.
#pragma once

#include <array>
#include <string_view>

namespace whyformer {

inline constexpr auto kOperatorKinds = std::to_array<std::string_view>({
    "Abs", "Activation", "Add", "And", "ArgMax", "ArgMin", "AveragePool", "Cast", "Ceil", "Concat", "Constant",
    "Conv", "ConvProduct", "ConvTranspose", "Cos", "CumSum", "DequantizeLinear", "Div", "DynamicScale", "Elu",
    "Embedding", "Equal", "Erf", "Exp", "Expand", "Floor", "Gather", "GatherElements", "GatherND", "Greater",
    "GreaterOrEqual", "GridSample", "HardSigmoid", "HardSwish", "IsNaN", "L2Normalise", "LayerNorm", "LeakyRelu",
    "Less", "LessOrEqual", "Linear", "Log", "MatMul", "Max", "MaxPool", "Mean", "Min", "Mod", "Mul", "Neg", "Not",
    "OneHot", "Or", "Pad", "Pow", "QuantizeLinear", "QuickGelu", "Reciprocal", "ReduceL1", "ReduceL2",
    "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
    "Reshape", "Resize", "RmsNorm", "Round", "ScatterElements", "ScatterND", "Sign", "Sin", "Slice", "Softmax",
    "Softplus", "Sqrt", "StridedSlice", "Sub", "Tile", "TopK", "Transpose", "Trilu", "Where", "Xor",
});

}  // namespace whyformer
