#include "graph/op_abilities.h"
#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// Repeats axes of length 1: a view. What the copies get adds up.
class ExpandOp final : public ops::Expand, public StoresShape {
 public:
  explicit ExpandOp(Shape shape) : shape_(std::move(shape)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    const Shape shape = broadcast(inputs[0].shape, shape_);
    check_size(shape);
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{inputs[0].expand(broadcast(inputs[0].shape(), shape_))}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    return {sum_to(dy[0], call.input_types[0].shape)};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape output = broadcast(inputs[0].shape, shape_);
    return AxisFlow{{broadcast_source(axis, output, inputs[0].shape)}, true};
  }

  std::shared_ptr<const Op> resized(int axis, int64_t length) const override {
    Shape shape = shape_;
    shape[axis] = length;
    return std::make_shared<ExpandOp>(std::move(shape));
  }

 private:
  Shape shape_;  // of at least as many axes as the input
};

}  // namespace

Value expand(GraphBuilder& graph, Value x, Shape shape, std::string name) {
  const size_t rank = graph.shape(x).size();
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return graph.add(std::make_shared<ExpandOp>(std::move(shape)), {x}, std::move(name));
}

}  // namespace whyformer
