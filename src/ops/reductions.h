// Sums, means, extremes and norms over some axes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

enum class Reduction { kSum, kMean, kMax, kMin, kL1, kL2, kProduct, kSumOfSquares, kLogSumExp };

namespace ops {

// What all reductions have.
class Reduce : public Op {
 public:
  // Axes in ascending order.
  Reduce(Reduction f, std::vector<int> axes, bool keep_axes)
      : f_(f), axes_(std::move(axes)), keep_axes_(keep_axes) {}

  Reduction function() const { return f_; }
  const std::vector<int>& axes() const { return axes_; }
  bool keeps_axes() const { return keep_axes_; }

  std::vector<ValueType> infer(ValueTypes inputs) const override;
  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override;
  BackwardNeeds backward_needs() const override;
  Tensors gradient(const Call& call, TensorSpan d_outputs, const Wanted& wanted) const override;
  Tensors linearised(const Call& call, TensorSpan d_outputs, const Wanted& wanted) const override;
  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted& wanted) const override;
  bool moves_data() const override;
  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override;

 private:
  Shape output_shape(const Shape& shape) const;

  Reduction f_;
  std::vector<int> axes_;
  bool keep_axes_;
};
struct ReduceSum : NamedOp<"ReduceSum", Reduce> {
  using NamedOp::NamedOp;
};
struct ReduceMean : NamedOp<"ReduceMean", Reduce> {
  using NamedOp::NamedOp;
};
struct ReduceMax : NamedOp<"ReduceMax", Reduce> {
  using NamedOp::NamedOp;
};
struct ReduceMin : NamedOp<"ReduceMin", Reduce> {
  using NamedOp::NamedOp;
};
struct ReduceL1 : NamedOp<"ReduceL1", Reduce> {
  using NamedOp::NamedOp;
};
struct ReduceL2 : NamedOp<"ReduceL2", Reduce> {
  using NamedOp::NamedOp;
};
struct ReduceProd : NamedOp<"ReduceProd", Reduce> {
  using NamedOp::NamedOp;
};
struct ReduceSumSquare : NamedOp<"ReduceSumSquare", Reduce> {
  using NamedOp::NamedOp;
};
struct ReduceLogSumExp : NamedOp<"ReduceLogSumExp", Reduce> {
  using NamedOp::NamedOp;
};

}  // namespace ops

// The operator as a reduction of any type, and the axes over which it runs; null and empty for
// every other one.
const ops::Reduce* as_reduction(const Op& op);
std::vector<int> reduced_axes(const Op& op);

// Over some axes, which stay with length 1 or disappear; all axes if the list is empty.
Value reduce(GraphBuilder& graph, Value x, Reduction f, std::vector<int> axes, bool keep_axes,
             std::string name);

}  // namespace whyformer
