#include <fmt/format.h>

#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// y[…, k, …] = on where k is the index, else off; an index outside the new axis is nowhere.
class OneHotOp final : public ops::OneHot {
 public:
  OneHotOp(int axis, int64_t depth, double off, double on, DType dtype)
      : axis_(axis), depth_(depth), off_(off), on_(on), dtype_(dtype) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (inputs[0].dtype != DType::kInt64) throw InvalidInput("indices must be integers");
    Shape shape = inputs[0].shape;
    if (axis_ < 0 || axis_ > static_cast<int>(shape.size())) {
      throw InvalidInput(fmt::format("axis {} cannot be added to {}", axis_, to_string(shape)));
    }
    shape.insert(shape.begin() + axis_, depth_);
    check_size(shape);
    return {{shape, dtype_}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor indices = inputs[0].contiguous();
    Shape shape = indices.shape();
    shape.insert(shape.begin() + axis_, depth_);
    Tensor result = Tensor::empty(shape, dtype_);
    result.fill(off_);
    const int64_t behind = around(shape, axis_).behind;
    with_element_type(dtype_, [&](auto zero) {
      using T = decltype(zero);
      T* out = result.mutable_data<T>();
      for (int64_t i = 0; i < indices.size(); ++i) {
        const int64_t index = indices.data<int64_t>()[i];
        if (index < -depth_ || index >= depth_) continue;
        const int64_t position = index < 0 ? index + depth_ : index;
        out[(i / behind * depth_ + position) * behind + i % behind] = static_cast<T>(on_);
      }
    });
    return {{result}, {}};
  }

  // Integers have no gradient.
  Tensors gradient(const Call&, TensorSpan, const Wanted&) const override { return {Tensor()}; }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (axis == axis_) return std::nullopt;
    return same_axis(axis < axis_ ? axis : axis - 1);
  }

 private:
  int axis_;
  int64_t depth_;
  double off_;
  double on_;
  DType dtype_;
};

}  // namespace

Value one_hot(GraphBuilder& graph, Value indices, int axis, int64_t depth, double off, double on,
              DType dtype, std::string name) {
  return graph.add(std::make_shared<OneHotOp>(axis, depth, off, on, dtype), {indices},
                   std::move(name));
}

}  // namespace whyformer
