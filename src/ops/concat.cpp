#include <fmt/format.h>

#include "ops/helpers.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// Two tensors one after the other along an axis.
class Concat final : public Op {
 public:
  explicit Concat(int axis) : axis_(axis) {}

  std::string_view kind() const override { return "Concat"; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    Shape shape = inputs[0].shape;
    Shape other = inputs[1].shape;
    if (axis_ < 0 || axis_ >= static_cast<int>(shape.size()) || shape.size() != other.size()) {
      throw InvalidInput(fmt::format("shapes {} and {} cannot be joined along axis {}",
                                     to_string(shape), to_string(other), axis_));
    }
    const int64_t length = shape[axis_] + other[axis_];
    shape[axis_] = other[axis_] = length;
    if (shape != other) {
      throw InvalidInput(fmt::format("shapes {} and {} differ outside axis {}",
                                     to_string(inputs[0].shape), to_string(inputs[1].shape), axis_));
    }
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    Shape shape = inputs[0].shape();
    const int64_t first = shape[axis_], second = inputs[1].dim(axis_);
    shape[axis_] = first + second;
    Tensor joined = Tensor::empty(shape, inputs[0].dtype());
    joined.slice(axis_, 0, first).copy_from(inputs[0]);
    joined.slice(axis_, first, second).copy_from(inputs[1]);
    return {{joined}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    const int64_t first = call.input_types[0].shape[axis_];
    const int64_t second = call.input_types[1].shape[axis_];
    Tensors results(2);
    if (wanted[0]) results[0] = dy[0].slice(axis_, 0, first);
    if (wanted[1]) results[1] = dy[0].slice(axis_, first, second);
    return results;
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (axis == axis_) return std::nullopt;
    return AxisFlow{{axis, axis}, true};
  }

 private:
  int axis_;
};

}  // namespace

Value concat(GraphBuilder& graph, Value a, Value b, int axis, std::string name) {
  return graph.add(std::make_shared<Concat>(axis), {a, b}, std::move(name));
}

}  // namespace whyformer
