#include "base/parallel.h"
#include "ops/helpers.h"
#include "ops/layers.h"
#include "ops/softmax_rows.h"

namespace whyformer {
namespace {

// p = softmax(scale · x + mask), dx = scale · p ⊙ (dp - Σ_j p_j dp_j). The mask is a constant.
class SoftmaxOp final : public ops::Softmax {
 public:
  explicit SoftmaxOp(double scale) : scale_(scale) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    with_float_type(inputs[0].dtype, [](auto) {});
    if (inputs[0].shape.empty()) throw InvalidInput("the scores need at least one axis");
    if (inputs.size() > 1) check_same_type(inputs[0], inputs[1]);
    if (inputs.size() > 1 && broadcast(inputs[0].shape, inputs[1].shape) != inputs[0].shape) {
      throw InvalidInput("the mask " + to_string(inputs[1].shape) + " does not fit the scores " +
                         to_string(inputs[0].shape));
    }
    return {inputs[0]};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    inputs[0] = inputs[0].contiguous();
    const ValueType type{inputs[0].shape(), inputs[0].dtype()};
    const int64_t rows = row_count(inputs[0]);
    const int64_t columns = inputs[0].dim(-1);
    const Tensor mask = inputs.size() > 1 ? inputs[1] : Tensor();
    return with_float_type(type.dtype, [&](auto zero) {
      using T = decltype(zero);
      const T* scores = inputs[0].data<T>();
      Tensor p = reuse_or_allocate(inputs[0], type);
      T* out = p.mutable_data<T>();
      const SoftmaxRows<T> softmax(mask, type.shape, scale_);
      parallel_for(rows, grain(columns), [&](int64_t begin, int64_t end) {
        softmax.apply(scores + begin * columns, out + begin * columns, begin, end - begin);
      });
      return Forward{{p}, {}};
    });
  }

  BackwardNeeds backward_needs() const override { return {.outputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dp, const Wanted&) const override {
    const Tensor& p = call.outputs[0];
    const Tensor from = dp[0].contiguous();
    const int64_t columns = p.dim(-1);
    Tensors results(call.input_types.size());
    results[0] = Tensor::empty(p.shape(), p.dtype());
    with_float_type(p.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* out = results[0].template mutable_data<T>();
      parallel_for(row_count(p), grain(columns), [&](int64_t begin, int64_t end) {
        const int64_t at = begin * columns;
        softmax_rows_gradient(p.data<T>() + at, from.data<T>() + at, out + at, end - begin, columns,
                              static_cast<T>(scale_));
      });
    });
    return results;
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape& shape = inputs[0].shape;
    AxisFlow flow{{axis}, axis != static_cast<int>(shape.size()) - 1};
    if (inputs.size() > 1) flow.sources.push_back(broadcast_source(axis, shape, inputs[1].shape));
    return flow;
  }

  double scale() const override { return scale_; }

 private:
  static int64_t grain(int64_t columns) { return std::max<int64_t>(1, 8192 / (columns + 1)); }

  double scale_;
};

}  // namespace

Value softmax(GraphBuilder& graph, Value scores, Value mask, double scale, std::string name) {
  std::vector<Value> inputs{scores};
  if (mask.valid()) inputs.push_back(mask);
  return graph.add(std::make_shared<SoftmaxOp>(scale), std::move(inputs), std::move(name));
}

}  // namespace whyformer
