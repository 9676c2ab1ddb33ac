#include <fmt/format.h>

#include "base/parallel.h"
#include "ops/arithmetic.h"
#include "ops/helpers.h"
#include "ops/reduce_values.h"

namespace whyformer {
namespace {

// y_p = Σ_{q ≤ p} x_q, without q = p if exclusive and over q ≥ p if reversed; its transpose is the
// same sum from the other end.
class CumulativeSumOp final : public ops::CumSum {
 public:
  CumulativeSumOp(int axis, bool exclusive, bool reverse)
      : axis_(axis), exclusive_(exclusive), reverse_(reverse) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    const Shape& shape = inputs[0].shape;
    if (axis_ < 0 || axis_ >= static_cast<int>(shape.size())) {
      throw InvalidInput(fmt::format("there is no axis {} in {}", axis_, to_string(shape)));
    }
    return {inputs[0]};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{sums(inputs[0], reverse_)}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    if (call.input_types[0].dtype == DType::kInt64) return Tensors(1);
    return {sums(dy[0], !reverse_)};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    return AxisFlow{{axis}, axis != axis_};
  }

 private:
  Tensor sums(const Tensor& tensor, bool reverse) const {
    const Tensor x = tensor.contiguous();
    Tensor y = Tensor::empty(x.shape(), x.dtype());
    with_number_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const auto [outer, length, inner] = around_axes(x.shape(), axis_, 1);
      T* out = y.mutable_data<T>();
      parallel_for(outer * inner, 16384 / (length + 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t first = i / inner * length * inner + i % inner;
          add_up(x.data<T>() + first, out + first, length, inner, reverse);
        }
      });
    });
    return y;
  }

  template <typename T>
  void add_up(const T* x, T* y, int64_t length, int64_t step, bool reverse) const {
    // Integers wrap around; floats are summed in double.
    using Total = std::conditional_t<std::is_floating_point_v<T>, double, uint64_t>;
    Total total = 0;
    for (int64_t p = 0; p < length; ++p) {
      const int64_t at = (reverse ? length - 1 - p : p) * step;
      const Total before = total;
      total += static_cast<Total>(x[at]);
      y[at] = static_cast<T>(exclusive_ ? before : total);
    }
  }

  int axis_;
  bool exclusive_;
  bool reverse_;
};

}  // namespace

Value cumulative_sum(GraphBuilder& graph, Value x, int axis, bool exclusive, bool reverse,
                     std::string name) {
  return graph.add(std::make_shared<CumulativeSumOp>(axis, exclusive, reverse), {x},
                   std::move(name));
}

}  // namespace whyformer
