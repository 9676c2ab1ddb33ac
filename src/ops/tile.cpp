#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// The whole axis again and again; what the copies get adds up.
class TileOp final : public ops::Tile {
 public:
  explicit TileOp(std::vector<int64_t> repeats) : repeats_(std::move(repeats)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    Shape shape = inputs[0].shape;
    if (shape.size() != repeats_.size()) {
      throw InvalidInput(fmt::format("the repeats [{}] do not fit the shape {}",
                                     fmt::join(repeats_, ", "), to_string(shape)));
    }
    check_size(repeats_);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      check_size({shape[axis], repeats_[axis]});
      shape[axis] *= repeats_[axis];
    }
    check_size(shape);
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    Tensor y = inputs[0];
    for (size_t axis = repeats_.size(); axis-- > 0;) {
      if (repeats_[axis] == 1) continue;
      y = pick(y, static_cast<int>(axis), positions(axis, inputs[0].shape()[axis]));
    }
    return {{y}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    Tensor dx = dy[0];
    for (size_t axis = 0; axis < repeats_.size(); ++axis) {
      if (repeats_[axis] == 1) continue;
      const int64_t length = call.input_types[0].shape[axis];
      dx = sum_back(dx, static_cast<int>(axis), positions(axis, length), length);
    }
    return {dx};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (repeats_[axis] != 1) return std::nullopt;
    return same_axis(axis);
  }

 private:
  std::vector<int64_t> positions(size_t axis, int64_t length) const {
    std::vector<int64_t> result(length * repeats_[axis]);
    for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<int64_t>(i) % length;
    return result;
  }

  std::vector<int64_t> repeats_;
};

}  // namespace

Value tile(GraphBuilder& graph, Value x, std::vector<int64_t> repeats, std::string name) {
  return graph.add(std::make_shared<TileOp>(std::move(repeats)), {x}, std::move(name));
}

}  // namespace whyformer
