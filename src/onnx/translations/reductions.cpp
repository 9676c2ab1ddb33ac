#include "onnx/operators.h"
#include "onnx/translations/parts.h"
#include "ops/arithmetic.h"
#include "ops/gathering.h"
#include "ops/ops.h"

namespace whyformer::onnx {
namespace {

Value reduced(NodeScope& scope, Reduction f) {
  GraphBuilder& graph = scope.graph();
  const Value x = scope.input(0);
  const int rank = scope.rank(0);
  std::vector<int> axes;
  for (const int64_t axis : scope.axes(1).value_or(std::vector<int64_t>())) {
    axes.push_back(scope.axis(axis, rank));
  }
  if (axes.empty() && scope.integer("noop_with_empty_axes", 0) != 0) {
    // Each element on its own: what ReduceSumSquare does to one is left.
    Shape shape = scope.shape(0);
    shape.push_back(1);
    return reduce(graph, reshaped(scope, x, shape), f, {rank}, false, scope.name());
  }
  return reduce(graph, x, f, std::move(axes), scope.integer("keepdims", 1) != 0, scope.name());
}

template <Reduction kReduction>
std::vector<Value> translate_reduction(NodeScope& scope) {
  const bool truth = scope.element(0) == ElementType::kBool;
  // The largest of no truth values is false, the least is true.
  if (truth && kReduction == Reduction::kMin) return {reduced(scope, Reduction::kProduct)};
  if (truth && kReduction == Reduction::kMax) {
    return {
        cast(scope.graph(), reduced(scope, Reduction::kSum), DType::kInt64, true, scope.name())};
  }
  return {reduced(scope, kReduction)};
}

// Of truth values as well: the largest of none is false, the least of none true.
template <Reduction kReduction>
std::vector<Value> translate_extremum(NodeScope& scope) {
  const Value found = reduced(scope, kReduction);
  if (scope.element(0) != ElementType::kBool) return {found};
  return {binary(scope.graph(), found, scope.number_constant(0, DType::kInt64),
                 BinaryFunction::kGreater, scope.name())};
}

std::vector<Value> translate_reduce_log_sum(NodeScope& scope) {
  const Value sum = reduced(scope, Reduction::kSum);
  return {unary(scope.graph(), sum, UnaryFunction::kLog, scope.name())};
}

template <bool kLargest>
std::vector<Value> translate_arg(NodeScope& scope) {
  const int axis = scope.axis(scope.integer("axis", 0), scope.rank(0));
  const bool last = scope.integer("select_last_index", 0) != 0;
  Value position = arg_best(scope.graph(), scope.input(0), axis, kLargest, last, scope.name());
  if (scope.integer("keepdims", 1) == 0) {
    Shape shape = scope.shape(0);
    shape.erase(shape.begin() + axis);
    position = reshaped(scope, position, shape);
  }
  scope.set_element(position, ElementType::kInt64);
  return {position};
}

std::vector<Value> translate_cumulative_sum(NodeScope& scope) {
  const std::vector<int64_t> axes = scope.integers(1);
  if (axes.size() != 1) throw InvalidInput("the axis must be one number");
  return {cumulative_sum(scope.graph(), scope.input(0), scope.axis(axes[0], scope.rank(0)),
                         scope.integer("exclusive", 0) != 0, scope.integer("reverse", 0) != 0,
                         scope.name())};
}

std::vector<Value> translate_top_k(NodeScope& scope) {
  int64_t count = scope.integer("k", 0);
  if (scope.opset() >= 10) {
    const std::vector<int64_t> counts = scope.integers(1);
    if (counts.size() != 1) throw InvalidInput("k must be one number");
    count = counts[0];
  }
  const int axis = scope.axis(scope.integer("axis", -1), scope.rank(0));
  const std::vector<Value> best = top_k(scope.graph(), scope.input(0), axis, count,
                                        scope.integer("largest", 1) != 0, scope.name());
  scope.set_element(best[1], ElementType::kInt64);
  return best;
}

constexpr OnnxOperator kOperators[] = {
    {"", "ReduceSum", translate_reduction<Reduction::kSum>},
    {"", "ReduceMean", translate_reduction<Reduction::kMean>},
    {"", "ReduceMax", translate_extremum<Reduction::kMax>},
    {"", "ReduceMin", translate_extremum<Reduction::kMin>},
    {"", "ReduceL1", translate_reduction<Reduction::kL1>},
    {"", "ReduceL2", translate_reduction<Reduction::kL2>},
    {"", "ReduceProd", translate_reduction<Reduction::kProduct>},
    {"", "ReduceSumSquare", translate_reduction<Reduction::kSumOfSquares>},
    {"", "ReduceLogSumExp", translate_reduction<Reduction::kLogSumExp>},
    {"", "ReduceLogSum", translate_reduce_log_sum},
    {"", "ArgMax", translate_arg<true>},
    {"", "ArgMin", translate_arg<false>},
    {"", "CumSum", translate_cumulative_sum},
    {"", "TopK", translate_top_k},
};

}  // namespace

std::span<const OnnxOperator> reduction_operators() { return kOperators; }

}  // namespace whyformer::onnx
