#include <fmt/format.h>

#include "ops/helpers.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

// Some neighbouring positions of one axis; the others get no gradient.
class SliceOp final : public ops::Slice {
 public:
  explicit SliceOp(const SlicedRows& rows) : rows_(rows) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    Shape shape = inputs[0].shape;
    if (rows_.axis < 0 || rows_.axis >= static_cast<int>(shape.size()) || rows_.start < 0 ||
        rows_.length < 0 || rows_.start > shape[rows_.axis] ||
        rows_.length > shape[rows_.axis] - rows_.start) {
      throw InvalidInput(fmt::format("{} positions from {} on of axis {} are not all in {}",
                                     rows_.length, rows_.start, rows_.axis, to_string(shape)));
    }
    shape[rows_.axis] = rows_.length;
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{inputs[0].slice(rows_.axis, rows_.start, rows_.length)}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    Tensor dx = Tensor::zeros(call.input_types[0].shape, dy[0].dtype());
    dx.slice(rows_.axis, rows_.start, rows_.length).copy_from(dy[0]);
    return {dx};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (axis == rows_.axis && rows_.length != inputs[0].shape[rows_.axis]) return std::nullopt;
    return same_axis(axis);
  }

  const SlicedRows& rows() const override { return rows_; }

 private:
  SlicedRows rows_;
};

}  // namespace

std::optional<SlicedRows> sliced_rows(const Op& op) {
  const auto* slice = op_as<ops::Slice>(op);
  if (slice == nullptr) return std::nullopt;
  return slice->rows();
}

Value slice(GraphBuilder& graph, Value x, int axis, int64_t start, int64_t length,
            std::string name) {
  return graph.add(std::make_shared<SliceOp>(SlicedRows{axis, start, length}), {x},
                   std::move(name));
}

}  // namespace whyformer
