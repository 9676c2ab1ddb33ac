#include <fmt/format.h>

#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// Some positions of one axis in equal steps; the others get no gradient.
class StridedSliceOp final : public ops::StridedSlice {
 public:
  StridedSliceOp(int axis, int64_t start, int64_t step, int64_t length)
      : axis_(axis), start_(start), step_(step), length_(length) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    Shape shape = inputs[0].shape;
    if (axis_ < 0 || axis_ >= static_cast<int>(shape.size()) || !inside(shape[axis_])) {
      throw InvalidInput(
          fmt::format("{} positions of axis {} from {} in steps of {} are not all in "
                      "{}",
                      length_, axis_, start_, step_, to_string(shape)));
    }
    shape[axis_] = length_;
    check_size(shape);
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{pick(inputs[0], axis_, positions())}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    return {sum_back(dy[0], axis_, positions(), call.input_types[0].shape[axis_])};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (axis == axis_) return std::nullopt;
    return same_axis(axis);
  }

 private:
  bool inside(int64_t size) const {
    if (length_ <= 0) return length_ == 0;
    if (start_ < 0 || start_ >= size) return false;
    if (length_ == 1 || step_ == 0) return true;
    if (step_ < -size) return false;
    return length_ - 1 <= (step_ > 0 ? (size - 1 - start_) / step_ : start_ / -step_);
  }

  std::vector<int64_t> positions() const {
    std::vector<int64_t> result(length_);
    for (int64_t i = 0; i < length_; ++i) result[i] = start_ + i * step_;
    return result;
  }

  int axis_;
  int64_t start_;
  int64_t step_;
  int64_t length_;
};

}  // namespace

Value strided_slice(GraphBuilder& graph, Value x, int axis, int64_t start, int64_t step,
                    int64_t length, std::string name) {
  return graph.add(std::make_shared<StridedSliceOp>(axis, start, step, length), {x},
                   std::move(name));
}

}  // namespace whyformer
