#include <fmt/format.h>

#include "ops/helpers.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// The same elements in the same order under another shape.
class Reshape final : public Op {
 public:
  explicit Reshape(Shape shape) : shape_(std::move(shape)) {}

  std::string_view kind() const override { return "Reshape"; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (element_count(inputs[0].shape) != element_count(shape_)) {
      throw InvalidInput(fmt::format("the input {} has {} elements but the new shape {} has {}",
                                     to_string(inputs[0].shape), element_count(inputs[0].shape),
                                     to_string(shape_), element_count(shape_)));
    }
    return {{shape_, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{inputs[0].reshape(shape_)}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    return {dy[0].reshape(call.input_types[0].shape)};
  }

  // An axis goes through whole if as many elements stand before it, and behind it, on both sides.
  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape& from = inputs[0].shape;
    const int64_t before = element_count({shape_.begin(), shape_.begin() + axis});
    int64_t count = 1;
    for (size_t source = 0; source < from.size(); ++source) {
      if (count == before && from[source] == shape_[axis]) {
        return AxisFlow{{static_cast<int>(source)}, true};
      }
      count *= from[source];
    }
    return std::nullopt;
  }

  std::shared_ptr<const Op> resized(int axis, int64_t length) const override {
    Shape shape = shape_;
    shape[axis] = length;
    return std::make_shared<Reshape>(std::move(shape));
  }

 private:
  Shape shape_;
};

}  // namespace

Value reshape(GraphBuilder& graph, Value x, Shape shape, std::string name) {
  return graph.add(std::make_shared<Reshape>(std::move(shape)), {x}, std::move(name));
}

}  // namespace whyformer
