#include <fmt/format.h>

#include "ops/helpers.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// Some neighbouring positions of one axis; the others get no gradient.
class Slice final : public Op {
 public:
  Slice(int axis, int64_t start, int64_t length) : axis_(axis), start_(start), length_(length) {}

  std::string_view kind() const override { return "Slice"; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    Shape shape = inputs[0].shape;
    if (axis_ < 0 || axis_ >= static_cast<int>(shape.size()) || start_ < 0 || length_ < 0 ||
        start_ > shape[axis_] || length_ > shape[axis_] - start_) {
      throw InvalidInput(fmt::format("{} positions from {} on of axis {} are not all in {}",
                                     length_, start_, axis_, to_string(shape)));
    }
    shape[axis_] = length_;
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{inputs[0].slice(axis_, start_, length_)}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    Tensor dx = Tensor::zeros(call.input_types[0].shape, dy[0].dtype());
    dx.slice(axis_, start_, length_).copy_from(dy[0]);
    return {dx};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (axis == axis_ && length_ != inputs[0].shape[axis_]) return std::nullopt;
    return same_axis(axis);
  }

  std::optional<SlicedRows> sliced_rows() const override {
    return SlicedRows{axis_, start_, length_};
  }

  std::shared_ptr<const Op> slicing(const SlicedRows& rows) const override {
    return std::make_shared<Slice>(rows.axis, rows.start, rows.length);
  }

 private:
  int axis_;
  int64_t start_;
  int64_t length_;
};

}  // namespace

Value slice(GraphBuilder& graph, Value x, int axis, int64_t start, int64_t length,
            std::string name) {
  return graph.add(std::make_shared<Slice>(axis, start, length), {x}, std::move(name));
}

}  // namespace whyformer
