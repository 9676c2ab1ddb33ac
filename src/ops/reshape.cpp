#include <fmt/format.h>

#include "graph/op_abilities.h"
#include "ops/element_moves.h"
#include "ops/helpers.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

// The same elements in the same order under another shape.
class ReshapeOp final : public ops::Reshape, public StoresShape {
 public:
  explicit ReshapeOp(Shape shape, std::vector<int> sources = {})
      : shape_(std::move(shape)), sources_(std::move(sources)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_size(shape_);
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

  bool moves_data() const override { return true; }

  // An axis goes through whole if as many elements stand before it on both sides. Among axes of
  // length 1 there, which all qualify, the order decides.
  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (!sources_.empty()) {
      if (sources_[axis] < 0) return std::nullopt;
      return same_axis(sources_[axis]);
    }
    const Shape& from = inputs[0].shape;
    int64_t before = 1;
    int same_place = 0;
    for (int i = 0; i < axis; ++i) {
      same_place = shape_[i] == 1 ? same_place + 1 : 0;
      before *= shape_[i];
    }
    int64_t count = 1;
    int found = -1;
    for (size_t source = 0; source < from.size() && count <= before; ++source) {
      if (count == before && from[source] == shape_[axis]) {
        found = static_cast<int>(source);
        if (same_place-- == 0) break;
      }
      count *= from[source];
    }
    if (found < 0) return std::nullopt;
    return AxisFlow{{found}, true};
  }

  std::shared_ptr<const Op> resized(int axis, int64_t length) const override {
    Shape shape = shape_;
    shape[axis] = length;
    return std::make_shared<ReshapeOp>(std::move(shape), sources_);
  }

 private:
  Shape shape_;
  std::vector<int> sources_;  // by axis, where that is known
};

}  // namespace

Value reshape(GraphBuilder& graph, Value x, Shape shape, std::string name) {
  return graph.add(std::make_shared<ReshapeOp>(std::move(shape)), {x}, std::move(name));
}

Value reshape(GraphBuilder& graph, Value x, Shape shape, std::vector<int> sources,
              std::string name) {
  return graph.add(std::make_shared<ReshapeOp>(std::move(shape), std::move(sources)), {x},
                   std::move(name));
}

}  // namespace whyformer
