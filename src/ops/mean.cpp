#include <fmt/format.h>

#include "ops/helpers.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

// y = Σ_p x_p / n over one axis, dx_p = dy / n.
class MeanOp final : public ops::Mean {
 public:
  explicit MeanOp(int axis) : axis_(axis) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (axis_ < 0 || axis_ >= static_cast<int>(inputs[0].shape.size())) {
      throw InvalidInput(
          fmt::format("there is no axis {} in {}", axis_, to_string(inputs[0].shape)));
    }
    Shape shape = inputs[0].shape;
    shape.erase(shape.begin() + axis_);
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor& x = inputs[0];
    Shape kept_axis = x.shape();
    kept_axis[axis_] = 1;
    Tensor y = sum_to(x, kept_axis).copy();
    scale(y, 1.0 / static_cast<double>(x.dim(axis_)));
    return {{y.select(axis_, 0)}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const Shape& shape = call.input_types[0].shape;
    Tensor share = dy[0].copy();
    scale(share, 1.0 / static_cast<double>(shape[axis_]));
    Shape kept_axis = shape;
    kept_axis[axis_] = 1;
    return {share.reshape(kept_axis).expand(shape).contiguous()};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    return AxisFlow{{axis < axis_ ? axis : axis + 1}, true};
  }

 private:
  static void scale(Tensor& tensor, double factor) {
    with_float_type(tensor.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* values = tensor.mutable_data<T>();
      for (int64_t i = 0; i < tensor.size(); ++i) values[i] = static_cast<T>(values[i] * factor);
    });
  }

  int axis_;
};

}  // namespace

Value mean(GraphBuilder& graph, Value x, int axis, std::string name) {
  return graph.add(std::make_shared<MeanOp>(axis), {x}, std::move(name));
}

}  // namespace whyformer
