#include <fmt/format.h>

#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// y[i, j, k] = x[i, indices[i, j, k], k] for axis 1.
class GatherElementsOp final : public ops::GatherElements {
 public:
  explicit GatherElementsOp(int axis) : axis_(axis) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    const Shape& shape = inputs[0].shape;
    const Shape& indices = inputs[1].shape;
    if (inputs[1].dtype != DType::kInt64) throw InvalidInput("indices must be integers");
    bool fits =
        axis_ >= 0 && axis_ < static_cast<int>(shape.size()) && indices.size() == shape.size();
    for (size_t axis = 0; fits && axis < shape.size(); ++axis) {
      fits = static_cast<int>(axis) == axis_ || indices[axis] <= shape[axis];
    }
    if (!fits) {
      throw InvalidInput(fmt::format("indices {} do not fit axis {} of {}", to_string(indices),
                                     axis_, to_string(shape)));
    }
    return {{indices, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    const Blocks blocks = element_blocks(inputs[0].shape(), inputs[1], axis_);
    Tensors kept;
    if (keep == KeepForBackward::kYes) kept.push_back(inputs[1]);
    return {{take(inputs[0], blocks, inputs[1].shape())}, std::move(kept)};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    const Shape& shape = call.input_types[0].shape;
    Tensors results(2);
    if (wanted[0]) {
      results[0] = sum_blocks(dy[0], element_blocks(shape, call.kept[0], axis_), shape);
    }
    return results;
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (axis == axis_ || inputs[0].shape[axis] != inputs[1].shape[axis]) return std::nullopt;
    return AxisFlow{{axis, axis}, true};
  }

 private:
  int axis_;
};

}  // namespace

Value gather_elements(GraphBuilder& graph, Value x, Value indices, int axis, std::string name) {
  return graph.add(std::make_shared<GatherElementsOp>(axis), {x, indices}, std::move(name));
}

}  // namespace whyformer
