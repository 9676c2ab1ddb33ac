// What several operators share.
#pragma once

#include <optional>
#include <utility>

#include "graph/op.h"
#include "whyformer/error.h"

namespace whyformer {

// Calls use(float{}) or use(double{}).
template <typename Use>
decltype(auto) with_float_type(DType type, Use&& use) {
  if (type == DType::kFloat32) return use(float{});
  if (type == DType::kFloat64) return use(double{});
  throw InvalidInput("needs floating-point numbers but was given integers");
}

// Calls use(float{}), use(double{}) or use(int64_t{}).
template <typename Use>
decltype(auto) with_number_type(DType type, Use&& use) {
  if (type == DType::kFloat32) return use(float{});
  if (type == DType::kFloat64) return use(double{});
  return use(int64_t{});
}

// Throws InvalidInput where two operands differ in their element type.
void check_same_type(const ValueType& a, const ValueType& b);

// The shape that two shapes broadcast to. Throws InvalidInput that names both.
Shape broadcast(const Shape& a, const Shape& b);

// `tensor` summed over the axes along which `shape` was broadcast to it.
Tensor sum_to(const Tensor& tensor, const Shape& shape);

// Axis `axis` of a broadcast output in an input of that shape, or -1 where the input repeats.
int broadcast_source(int axis, const Shape& output, const Shape& input);

// The flow of an operator with one input whose axes stay where they are.
inline std::optional<AxisFlow> same_axis(int axis) { return AxisFlow{{axis}, true}; }

// The same, for an operator that mixes positions along the last axis.
inline std::optional<AxisFlow> same_axis_mixing_last(int axis, int rank) {
  return AxisFlow{{axis}, axis != rank - 1};
}

// The rule of a map with fixed weights, such as averages and interpolation: whatever a policy says
// of other operators, relevance is shared in proportion, or stops.
inline Rule rule_of_fixed_map(Rule rule) {
  if (rule.kind != RuleKind::kStop) rule.kind = RuleKind::kProportional;
  return rule;
}

// Rows of the last axis.
inline int64_t row_count(const Tensor& tensor) {
  return tensor.dim(-1) == 0 ? 0 : tensor.size() / tensor.dim(-1);
}

}  // namespace whyformer
