#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ops/helpers.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

// Axes in another order: a view.
class TransposeOp final : public ops::Transpose {
 public:
  explicit TransposeOp(std::vector<int> order) : order_(std::move(order)), back_(order_.size()) {
    for (size_t axis = 0; axis < order_.size(); ++axis) {
      back_[order_[axis]] = static_cast<int>(axis);
    }
  }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (inputs[0].shape.size() != order_.size()) {
      throw InvalidInput(fmt::format("the order [{}] does not fit the shape {}",
                                     fmt::join(order_, ", "), to_string(inputs[0].shape)));
    }
    Shape shape;
    for (const int axis : order_) shape.push_back(inputs[0].shape[axis]);
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{inputs[0].permute(order_)}, {}};
  }

  Tensors gradient(const Call&, TensorSpan dy, const Wanted&) const override {
    return {dy[0].permute(back_)};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    return same_axis(order_[axis]);
  }

  const std::vector<int>& order() const override { return order_; }

 private:
  std::vector<int> order_;
  std::vector<int> back_;
};

}  // namespace

std::vector<int> axis_order(const Op& op) {
  const auto* transpose = op_as<ops::Transpose>(op);
  return transpose == nullptr ? std::vector<int>() : transpose->order();
}

Value transpose(GraphBuilder& graph, Value x, std::vector<int> order, std::string name) {
  return graph.add(std::make_shared<TransposeOp>(std::move(order)), {x}, std::move(name));
}

}  // namespace whyformer
