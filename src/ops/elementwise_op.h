// The common part of element-wise functions of one input. A function F has its operator's
// `Type`, and for floats `value(x)` and `slope(x)`; those that take integers `integer_value(x)`.
#pragma once

#include <concepts>

#include "ops/broadcast_map.h"
#include "ops/helpers.h"

namespace whyformer {

template <typename F>
concept TakesIntegers = requires(const F& f, int64_t x) {
  { f.integer_value(x) } -> std::same_as<int64_t>;
};

// y = f(x), dx = f'(x) ⊙ dy.
template <typename F>
class ElementwiseOp final : public F::Type {
 public:
  explicit ElementwiseOp(F f = {}) : f_(f) {}

  const F& function() const { return f_; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (inputs[0].dtype == DType::kInt64 && !TakesIntegers<F>) {
      throw InvalidInput("needs floating-point numbers but was given integers");
    }
    return {inputs[0]};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const ValueType type{inputs[0].shape(), inputs[0].dtype()};
    Tensor y = reuse_any_or_allocate(inputs, type);
    const Tensor& x = inputs[0].defined() ? inputs[0] : y;
    if (type.dtype == DType::kInt64) {
      if constexpr (TakesIntegers<F>) {
        broadcast_into<int64_t>(
            y, [this](int64_t v) { return f_.integer_value(v); }, as_whole<int64_t>(x));
      }
      return {{y}, {}};
    }
    with_float_type(type.dtype, [&](auto zero) {
      using T = decltype(zero);
      broadcast_into<T>(y, [this](T v) { return f_.value(v); }, as_whole<T>(x));
    });
    return {{y}, {}};
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    return back(call, dy[0], [this](auto x) { return f_.slope(x); });
  }

  // The ratio f(x)/x in place of the slope; at 0, where the two agree for f(0) = 0, the slope.
  Tensors linearised(const Call& call, TensorSpan dy, const Wanted&) const override {
    return back(call, dy[0], [this](auto x) { return x == 0 ? f_.slope(x) : f_.value(x) / x; });
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override { return same_axis(axis); }

 private:
  template <typename Factor>
  static Tensors back(const Call& call, const Tensor& dy, const Factor& factor) {
    if (call.input_types[0].dtype == DType::kInt64) return Tensors(1);
    return with_float_type(dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return Tensors{broadcast_map<T>([&](T d, T x) { return passed_back<T>(d, factor(x)); },
                                      dy.shape(), as_whole<T>(dy), as_whole<T>(call.inputs[0]))};
    });
  }

  F f_;
};

}  // namespace whyformer
