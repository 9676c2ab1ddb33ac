#include <fmt/format.h>

#include <algorithm>

#include "graph/op_abilities.h"
#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// Where updates go: single elements along an axis, or blocks at coordinates.
class Addresses {
 public:
  static Addresses elements(int axis) { return Addresses(axis); }
  static Addresses coordinates() { return Addresses(-1); }

  Blocks blocks(const Shape& shape, const Tensor& indices) const {
    return axis_ < 0 ? coordinate_blocks(shape, indices, 0) : element_blocks(shape, indices, axis_);
  }

  void check(const Shape& shape, const ValueType& indices, const ValueType& updates) const {
    if (indices.dtype != DType::kInt64) throw InvalidInput("indices must be integers");
    if (!(axis_ < 0 ? coordinates_fit(shape, indices.shape, updates.shape)
                    : elements_fit(shape, indices.shape, updates.shape))) {
      throw InvalidInput(fmt::format("indices {} and updates {} do not fit {}",
                                     to_string(indices.shape), to_string(updates.shape),
                                     to_string(shape)));
    }
  }

  // The axes of indices and updates that share positions with an axis of the result; nothing where
  // indices choose the position.
  std::optional<std::pair<int, int>> follow(int axis, const Shape& shape,
                                            const Shape& indices) const {
    if (axis_ >= 0) {
      if (axis == axis_ || shape[axis] != indices[axis]) return std::nullopt;
      return std::pair(axis, axis);
    }
    const int addressed = static_cast<int>(indices.back());
    if (axis < addressed) return std::nullopt;
    return std::pair(-1, axis - addressed + static_cast<int>(indices.size()) - 1);
  }

 private:
  explicit Addresses(int axis) : axis_(axis) {}

  bool elements_fit(const Shape& shape, const Shape& indices, const Shape& updates) const {
    if (axis_ >= static_cast<int>(shape.size()) || indices.size() != shape.size() ||
        indices != updates) {
      return false;
    }
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
      if (axis != axis_ && indices[axis] > shape[axis]) return false;
    }
    return true;
  }

  static bool coordinates_fit(const Shape& shape, const Shape& indices, const Shape& updates) {
    if (indices.empty() || indices.back() < 1 ||
        indices.back() > static_cast<int64_t>(shape.size())) {
      return false;
    }
    Shape expected(indices.begin(), indices.end() - 1);
    expected.insert(expected.end(), shape.begin() + indices.back(), shape.end());
    return updates == expected;
  }

  int axis_;
};

// y = x with updates in some places; of updates for one place the last one counts.
template <class Type>
class ScatterOp final : public Type {
 public:
  explicit ScatterOp(Addresses addresses) : addresses_(addresses) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    addresses_.check(inputs[0].shape, inputs[1], inputs[2]);
    if (inputs[0].dtype != inputs[2].dtype) {
      throw InvalidInput("updates are of another element type than what they replace");
    }
    return {inputs[0]};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    const Blocks blocks = addresses_.blocks(inputs[0].shape(), inputs[1]);
    const bool free = inputs[0].is_sole_owner() && inputs[0].is_contiguous();
    Tensor result = free ? std::move(inputs[0]) : inputs[0].copy();
    const Tensor updates = inputs[2].contiguous();
    with_element_type(result.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* from = updates.data<T>();
      for (const int64_t offset : blocks.offsets) {
        std::copy_n(from, blocks.length, result.mutable_data<T>() + offset);
        from += blocks.length;
      }
    });
    Tensors kept;
    if (keep == KeepForBackward::kYes) kept.push_back(inputs[1]);
    return {{result}, std::move(kept)};
  }

  // Backwards through the updates: each takes the gradient of its place away from earlier ones and
  // x.
  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    const Blocks blocks = addresses_.blocks(call.input_types[0].shape, call.kept[0]);
    Tensor dx = dy[0].copy();
    Tensor d_updates = Tensor::empty(call.input_types[2].shape, dy[0].dtype());
    with_float_type(dx.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* to = d_updates.mutable_data<T>() + d_updates.size();
      for (auto offset = blocks.offsets.rbegin(); offset != blocks.offsets.rend(); ++offset) {
        T* place = dx.mutable_data<T>() + *offset;
        to -= blocks.length;
        std::copy_n(place, blocks.length, to);
        std::fill_n(place, blocks.length, T{0});
      }
    });
    return {wanted[0] ? dx : Tensor(), {}, wanted[2] ? d_updates : Tensor()};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const auto sources = addresses_.follow(axis, inputs[0].shape, inputs[1].shape);
    if (!sources) return AxisFlow{{axis, -1, -1}, false};
    return AxisFlow{{axis, sources->first, sources->second}, true};
  }

 private:
  Addresses addresses_;
};

// Zeros to which updates are added. Adding to anything else is an Add, which shares relevance out.
template <class Type>
class ScatterSumOp final : public Type, public StoresShape {
 public:
  ScatterSumOp(Addresses addresses, Shape shape)
      : addresses_(addresses), shape_(std::move(shape)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_size(shape_);
    addresses_.check(shape_, inputs[0], inputs[1]);
    return {{shape_, inputs[1].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    Tensors kept;
    if (keep == KeepForBackward::kYes) kept.push_back(inputs[0]);
    return {{sum_blocks(inputs[1], addresses_.blocks(shape_, inputs[0]), shape_)}, std::move(kept)};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    Tensors results(2);
    if (wanted[1]) {
      results[1] = take(dy[0], addresses_.blocks(shape_, call.kept[0]), call.input_types[1].shape);
    }
    return results;
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const auto sources = addresses_.follow(axis, shape_, inputs[0].shape);
    if (!sources) return std::nullopt;
    return AxisFlow{{sources->first, sources->second}, true};
  }

  std::shared_ptr<const Op> resized(int axis, int64_t length) const override {
    Shape shape = shape_;
    shape[axis] = length;
    return std::make_shared<ScatterSumOp>(addresses_, std::move(shape));
  }

 private:
  Addresses addresses_;
  Shape shape_;
};

}  // namespace

Value scatter_nd(GraphBuilder& graph, Value x, Value indices, Value updates, std::string name) {
  return graph.add(std::make_shared<ScatterOp<ops::ScatterND>>(Addresses::coordinates()),
                   {x, indices, updates}, std::move(name));
}

Value scatter_elements(GraphBuilder& graph, Value x, Value indices, Value updates, int axis,
                       std::string name) {
  return graph.add(std::make_shared<ScatterOp<ops::ScatterElements>>(Addresses::elements(axis)),
                   {x, indices, updates}, std::move(name));
}

Value scatter_nd_sum(GraphBuilder& graph, Value indices, Value updates, Shape shape,
                     std::string name) {
  return graph.add(
      std::make_shared<ScatterSumOp<ops::ScatterND>>(Addresses::coordinates(), std::move(shape)),
      {indices, updates}, std::move(name));
}

Value scatter_elements_sum(GraphBuilder& graph, Value indices, Value updates, int axis, Shape shape,
                           std::string name) {
  return graph.add(std::make_shared<ScatterSumOp<ops::ScatterElements>>(Addresses::elements(axis),
                                                                        std::move(shape)),
                   {indices, updates}, std::move(name));
}

}  // namespace whyformer
