#include <cmath>

#include "ops/helpers.h"
#include "ops/layers.h"
#include "tensor/map.h"

namespace whyformer {
namespace {

// y = x / ‖x‖, dx = (dy - y ⟨y, dy⟩) / ‖x‖. A zero row stays zero, with no gradient.
struct L2NormaliseOp final : ops::L2Normalise {
  std::vector<ValueType> infer(ValueTypes inputs) const override {
    with_float_type(inputs[0].dtype, [](auto) {});
    if (inputs[0].shape.empty()) throw InvalidInput("the input needs at least one axis");
    return {inputs[0]};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor x = inputs[0].contiguous();
    return with_float_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      Tensor y = Tensor::empty(x.shape(), x.dtype());
      const int64_t columns = x.dim(-1);
      for (int64_t row = 0; row < row_count(x); ++row) {
        const T* from = x.data<T>() + row * columns;
        T* to = y.mutable_data<T>() + row * columns;
        const double scale = inverse_norm(from, columns);
        for (int64_t i = 0; i < columns; ++i) to[i] = static_cast<T>(from[i] * scale);
      }
      return Forward{{y}, {}};
    });
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true, .outputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const Tensor x = call.inputs[0].contiguous();
    const Tensor from = dy[0].contiguous();
    return with_float_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      Tensor dx = Tensor::empty(x.shape(), x.dtype());
      const int64_t columns = x.dim(-1);
      for (int64_t row = 0; row < row_count(x); ++row) {
        const int64_t at = row * columns;
        const T* y = call.outputs[0].template data<T>() + at;
        const T* d = from.data<T>() + at;
        const double scale = inverse_norm(x.data<T>() + at, columns);
        double along = 0;
        for (int64_t i = 0; i < columns; ++i) along += static_cast<double>(y[i]) * d[i];
        for (int64_t i = 0; i < columns; ++i) {
          dx.mutable_data<T>()[at + i] = static_cast<T>((d[i] - y[i] * along) * scale);
        }
      }
      return Tensors{dx};
    });
  }

  // With the norm held constant.
  Tensors linearised(const Call& call, TensorSpan dy, const Wanted&) const override {
    return {map([](auto d, auto x, auto y) { return x == 0 ? decltype(x){0} : d * (y / x); }, dy[0],
                call.inputs[0], call.outputs[0])};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    return same_axis_mixing_last(axis, static_cast<int>(inputs[0].shape.size()));
  }

 private:
  template <typename T>
  static double inverse_norm(const T* row, int64_t columns) {
    double sum = 0;
    for (int64_t i = 0; i < columns; ++i) sum += static_cast<double>(row[i]) * row[i];
    return sum > 0 ? 1 / std::sqrt(sum) : 0;
  }
};

}  // namespace

Value l2_normalise(GraphBuilder& graph, Value x, std::string name) {
  return graph.add(std::make_shared<L2NormaliseOp>(), {x}, std::move(name));
}

}  // namespace whyformer
