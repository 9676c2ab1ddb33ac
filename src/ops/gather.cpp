#include <fmt/format.h>

#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// y[a…, i…, b…] = x[a…, indices[i…], b…]; dx adds up what every pick of a slice gets.
class GatherOp final : public ops::Gather {
 public:
  explicit GatherOp(int axis) : axis_(axis) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (inputs[1].dtype != DType::kInt64) throw InvalidInput("indices must be integers");
    if (axis_ < 0 || axis_ >= static_cast<int>(inputs[0].shape.size())) {
      throw InvalidInput(
          fmt::format("there is no axis {} in {}", axis_, to_string(inputs[0].shape)));
    }
    const Shape shape = output_shape(inputs[0].shape, inputs[1].shape);
    check_size(shape);
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    const Tensor picked = pick(inputs[0], axis_, positions(inputs[1], inputs[0].dim(axis_)));
    Tensors kept;
    if (keep == KeepForBackward::kYes) kept.push_back(inputs[1]);
    return {{picked.reshape(output_shape(inputs[0].shape(), inputs[1].shape()))}, std::move(kept)};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    Tensors results(2);
    if (!wanted[0]) return results;
    const Tensor& indices = call.kept[0];
    Shape slices = call.input_types[0].shape;
    const int64_t length = slices[axis_];
    slices[axis_] = indices.size();
    results[0] = sum_back(dy[0].reshape(slices), axis_, positions(indices, length), length);
    return results;
  }

  bool moves_data() const override { return true; }

  DependsOn depends_on() const override { return DependsOn::kNumbersAndIntegers; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const int picks = static_cast<int>(inputs[1].shape.size());
    if (axis < axis_) return AxisFlow{{axis, -1}, true};
    if (axis < axis_ + picks) return AxisFlow{{-1, axis - axis_}, true};
    return AxisFlow{{axis - picks + 1, -1}, true};
  }

 private:
  Shape output_shape(Shape shape, const Shape& indices) const {
    const auto place = shape.erase(shape.begin() + axis_);
    shape.insert(place, indices.begin(), indices.end());
    return shape;
  }

  static std::vector<int64_t> positions(const Tensor& indices, int64_t length) {
    const Tensor packed = indices.contiguous();
    std::vector<int64_t> result(packed.data<int64_t>(), packed.data<int64_t>() + packed.size());
    for (int64_t& index : result) index = position_of(index, length);
    return result;
  }

  int axis_;
};

}  // namespace

Value gather(GraphBuilder& graph, Value x, Value indices, int axis, std::string name) {
  return graph.add(std::make_shared<GatherOp>(axis), {x, indices}, std::move(name));
}

}  // namespace whyformer
