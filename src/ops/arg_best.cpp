#include <fmt/format.h>

#include "base/parallel.h"
#include "ops/arithmetic.h"
#include "ops/helpers.h"
#include "ops/reduce_values.h"

namespace whyformer {
namespace {

// A position has no gradient.
template <class Type>
class ArgBestOp final : public Type {
 public:
  ArgBestOp(int axis, bool last) : axis_(axis), last_(last) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    const Shape& shape = inputs[0].shape;
    if (axis_ < 0 || axis_ >= static_cast<int>(shape.size())) {
      throw InvalidInput(fmt::format("there is no axis {} in {}", axis_, to_string(shape)));
    }
    if (shape[axis_] == 0) {
      throw InvalidInput(fmt::format("axis {} of {} has no elements", axis_, to_string(shape)));
    }
    return {{with_axes_of_one(shape, {axis_}), DType::kInt64}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor x = inputs[0].contiguous();
    Tensor positions = Tensor::empty(with_axes_of_one(x.shape(), {axis_}), DType::kInt64);
    with_number_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const auto [outer, length, inner] = around_axes(x.shape(), axis_, 1);
      int64_t* out = positions.mutable_data<int64_t>();
      parallel_for(outer * inner, 16384 / length + 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          out[i] = best(x.data<T>() + i / inner * length * inner + i % inner, length, inner);
        }
      });
    });
    return {{positions}, {}};
  }

  Tensors gradient(const Call&, TensorSpan, const Wanted&) const override { return Tensors(1); }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (axis == axis_) return std::nullopt;
    return same_axis(axis);
  }

 private:
  template <typename T>
  int64_t best(const T* x, int64_t length, int64_t step) const {
    int64_t found = 0;
    for (int64_t i = 1; i < length; ++i) {
      const T here = x[i * step], so_far = x[found * step];
      const bool better = std::is_same_v<Type, ops::ArgMax> ? here > so_far : here < so_far;
      if (better || (last_ && here == so_far)) found = i;
    }
    return found;
  }

  int axis_;
  bool last_;
};

}  // namespace

Value arg_best(GraphBuilder& graph, Value x, int axis, bool largest, bool last, std::string name) {
  const auto add_op = [&](std::shared_ptr<const Op> op) {
    return graph.add(std::move(op), {x}, std::move(name));
  };
  return largest ? add_op(std::make_shared<ArgBestOp<ops::ArgMax>>(axis, last))
                 : add_op(std::make_shared<ArgBestOp<ops::ArgMin>>(axis, last));
}

}  // namespace whyformer
