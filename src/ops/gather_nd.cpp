#include <fmt/format.h>

#include <algorithm>

#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// y[a…, i…, b…] = x[a…, indices[a…, i…, :], b…], where a… are the batch axes.
class GatherNdOp final : public ops::GatherND {
 public:
  explicit GatherNdOp(int batch_axes) : batch_axes_(batch_axes) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    const Shape& x = inputs[0].shape;
    const Shape& indices = inputs[1].shape;
    if (inputs[1].dtype != DType::kInt64) throw InvalidInput("indices must be integers");
    const auto batch = static_cast<size_t>(batch_axes_);
    const bool fits = batch_axes_ >= 0 && indices.size() > batch && x.size() > batch &&
                      indices.back() > 0 &&
                      indices.back() <= static_cast<int64_t>(x.size() - batch) &&
                      std::equal(x.begin(), x.begin() + batch_axes_, indices.begin());
    if (!fits) {
      throw InvalidInput(fmt::format("indices {} do not fit {} with {} batch axes",
                                     to_string(indices), to_string(x), batch_axes_));
    }
    const Shape shape = output_shape(x, indices);
    check_size(shape);
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    const Shape& shape = inputs[0].shape();
    const Blocks blocks = coordinate_blocks(shape, inputs[1], batch_axes_);
    Tensors kept;
    if (keep == KeepForBackward::kYes) kept.push_back(inputs[1]);
    return {{take(inputs[0], blocks, output_shape(shape, inputs[1].shape()))}, std::move(kept)};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    const Shape& shape = call.input_types[0].shape;
    Tensors results(2);
    if (wanted[0]) {
      results[0] = sum_blocks(dy[0], coordinate_blocks(shape, call.kept[0], batch_axes_), shape);
    }
    return results;
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const int places = static_cast<int>(inputs[1].shape.size()) - 1;
    if (axis < batch_axes_) return AxisFlow{{axis, axis}, true};
    if (axis < places) return AxisFlow{{-1, axis}, true};
    const int addressed = batch_axes_ + static_cast<int>(inputs[1].shape.back());
    return AxisFlow{{axis - places + addressed, -1}, true};
  }

 private:
  Shape output_shape(const Shape& x, const Shape& indices) const {
    Shape shape(indices.begin(), indices.end() - 1);
    shape.insert(shape.end(), x.begin() + batch_axes_ + indices.back(), x.end());
    return shape;
  }

  int batch_axes_;
};

}  // namespace

Value gather_nd(GraphBuilder& graph, Value x, Value indices, int batch_axes, std::string name) {
  return graph.add(std::make_shared<GatherNdOp>(batch_axes), {x, indices}, std::move(name));
}

}  // namespace whyformer
