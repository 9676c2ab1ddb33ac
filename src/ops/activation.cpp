#include "base/parallel.h"
#include "ops/helpers.h"
#include "ops/layers.h"
#include "tensor/map.h"

namespace whyformer {
namespace {

// y = f(x), dx = f'(x) ⊙ dy; the slope is computed together with the value and kept.
class ActivationOp final : public ops::Activation {
 public:
  explicit ActivationOp(whyformer::ActivationFunction f) : f_(f) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    with_float_type(inputs[0].dtype, [](auto) {});
    return {inputs[0]};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    inputs[0] = inputs[0].contiguous();
    const ValueType type{inputs[0].shape(), inputs[0].dtype()};
    return with_float_type(type.dtype, [&](auto zero) {
      using T = decltype(zero);
      const T* x = inputs[0].data<T>();
      Tensor y = reuse_or_allocate(inputs[0], type);
      Tensor slope;
      if (keep == KeepForBackward::kYes) slope = Tensor::empty(type.shape, type.dtype);
      T* out = y.mutable_data<T>();
      T* slopes = slope.defined() ? slope.mutable_data<T>() : nullptr;
      parallel_for(y.size(), 4096, [&](int64_t begin, int64_t end) {
        activate(f_, x + begin, out + begin, slopes ? slopes + begin : nullptr, end - begin);
      });
      return Forward{{y}, {slope}};
    });
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const Tensor& slope = call.kept[0];
    const Tensor from = dy[0].contiguous();
    return with_float_type(slope.dtype(), [&](auto zero) {
      using T = decltype(zero);
      Tensor dx = Tensor::empty(slope.shape(), slope.dtype());
      T* out = dx.mutable_data<T>();
      parallel_for(dx.size(), 16384, [&](int64_t begin, int64_t end) {
        multiply(from.data<T>() + begin, slope.data<T>() + begin, out + begin, end - begin);
      });
      return Tensors{dx};
    });
  }

  // The ratio f(x)/x in place of the slope; at 0, where the two agree for f(0) = 0, the slope.
  Tensors linearised(const Call& call, TensorSpan dy, const Wanted&) const override {
    return {map([](auto d, auto x, auto y, auto slope) { return d * (x == 0 ? slope : y / x); },
                dy[0], call.inputs[0], call.outputs[0], call.kept[0])};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override { return same_axis(axis); }

  ActivationFunction function() const override { return f_; }

 private:
  ActivationFunction f_;
};

}  // namespace

std::optional<ActivationFunction> activation_function(const Op& op) {
  const auto* activation = op_as<ops::Activation>(op);
  if (activation == nullptr) return std::nullopt;
  return activation->function();
}

Value activation(GraphBuilder& graph, Value x, ActivationFunction f, std::string name) {
  return graph.add(std::make_shared<ActivationOp>(f), {x}, std::move(name));
}

}  // namespace whyformer
