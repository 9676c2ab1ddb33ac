// Element-wise functions of one and two values, choices between values. Numbers may be
// 32- or 64-bit floats or 64-bit integers; truth is the integers 0 and 1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/reductions.h"

namespace whyformer {

namespace ops {

struct Neg : NamedOp<"Neg"> {};
struct Abs : NamedOp<"Abs"> {};
struct Sign : NamedOp<"Sign"> {};
struct Floor : NamedOp<"Floor"> {};
struct Ceil : NamedOp<"Ceil"> {};
struct Round : NamedOp<"Round"> {};
struct Sqrt : NamedOp<"Sqrt"> {};
struct Reciprocal : NamedOp<"Reciprocal"> {};
struct Exp : NamedOp<"Exp"> {};
struct Log : NamedOp<"Log"> {};
struct Erf : NamedOp<"Erf"> {};
struct Sin : NamedOp<"Sin"> {};
struct Cos : NamedOp<"Cos"> {};
struct Softplus : NamedOp<"Softplus"> {};
struct IsNaN : NamedOp<"IsNaN"> {};
struct Not : NamedOp<"Not"> {};

struct LeakyRelu : NamedOp<"LeakyRelu"> {};
struct Elu : NamedOp<"Elu"> {};
struct HardSigmoid : NamedOp<"HardSigmoid"> {};
struct HardSwish : NamedOp<"HardSwish"> {};
struct QuickGelu : NamedOp<"QuickGelu"> {};  // x · sigmoid(alpha · x), alpha not 1.702

struct Mul : NamedOp<"Mul"> {};
struct Div : NamedOp<"Div"> {};
struct Pow : NamedOp<"Pow"> {};
struct Mod : NamedOp<"Mod"> {};
struct Min : NamedOp<"Min"> {};
struct Max : NamedOp<"Max"> {};
struct Equal : NamedOp<"Equal"> {};
struct Less : NamedOp<"Less"> {};
struct LessOrEqual : NamedOp<"LessOrEqual"> {};
struct Greater : NamedOp<"Greater"> {};
struct GreaterOrEqual : NamedOp<"GreaterOrEqual"> {};
struct And : NamedOp<"And"> {};
struct Or : NamedOp<"Or"> {};
struct Xor : NamedOp<"Xor"> {};

struct Where : NamedOp<"Where"> {};
struct Cast : NamedOp<"Cast"> {};
struct ArgMax : NamedOp<"ArgMax"> {};
struct ArgMin : NamedOp<"ArgMin"> {};
struct CumSum : NamedOp<"CumSum"> {};

}  // namespace ops

enum class UnaryFunction {
  kNegate,
  kAbs,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kSqrt,
  kReciprocal,
  kExp,
  kLog,
  kErf,
  kSin,
  kCos,
  kSoftplus,
  kIsNan,
  kNot
};
// f(x), element by element; the operator's kind is ONNX's name ("Sqrt").
Value unary(GraphBuilder& graph, Value x, UnaryFunction f, std::string name);

// x where it is positive, slope · x elsewhere.
Value leaky_relu(GraphBuilder& graph, Value x, double slope, std::string name);
// x where it is positive, alpha · (eˣ - 1) elsewhere.
Value elu(GraphBuilder& graph, Value x, double alpha, std::string name);
// max(0, min(1, slope · x + offset)).
Value hard_sigmoid(GraphBuilder& graph, Value x, double slope, double offset, std::string name);
// Slope and offset of an operator that hard_sigmoid made; nothing for any other.
struct HardSigmoidLine {
  double slope = 0;
  double offset = 0;
};
std::optional<HardSigmoidLine> hard_sigmoid_line(const Op& op);
// x · max(0, min(1, x/6 + 1/2)).
Value hard_swish(GraphBuilder& graph, Value x, std::string name);
// x · sigmoid(alpha · x): QuickGELU.
Value sigmoid_times(GraphBuilder& graph, Value x, double alpha, std::string name);

enum class BinaryFunction {
  kSubtract,
  kMultiply,
  kDivide,
  kPower,
  kModulo,
  kRemainder,
  kMinimum,
  kMaximum,
  kEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kAnd,
  kOr,
  kXor
};
// f(a, b) with NumPy's broadcasting; the operator's kind is ONNX's name ("Mul"). Integers divide
// towards zero; kModulo has the sign of the divisor, kRemainder that of the dividend.
Value binary(GraphBuilder& graph, Value a, Value b, BinaryFunction f, std::string name);

// yes where the condition is not 0, otherwise no; all three are broadcast.
Value where(GraphBuilder& graph, Value condition, Value yes, Value no, std::string name);

// Another element type; floats become integers by cutting off, and truth is not 0 if `to_truth`.
Value cast(GraphBuilder& graph, Value x, DType to, bool to_truth, std::string name);

// Position of the largest (or least) element of an axis, which stays with length 1; the first or
// last of equals.
Value arg_best(GraphBuilder& graph, Value x, int axis, bool largest, bool last, std::string name);

// Sums of the elements so far along an axis.
Value cumulative_sum(GraphBuilder& graph, Value x, int axis, bool exclusive, bool reverse,
                     std::string name);

}  // namespace whyformer
