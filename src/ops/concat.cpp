#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "ops/element_moves.h"
#include "ops/helpers.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

// Tensors one after the other along an axis.
class ConcatOp final : public ops::Concat {
 public:
  explicit ConcatOp(int axis) : axis_(axis) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    Shape joined = inputs[0].shape;
    for (const ValueType& input : inputs.subspan(1)) {
      if (axis_ < 0 || axis_ >= static_cast<int>(joined.size()) ||
          joined.size() != input.shape.size() || inputs[0].dtype != input.dtype) {
        throw InvalidInput(fmt::format("shapes {} and {} cannot be joined along axis {}",
                                       to_string(inputs[0].shape), to_string(input.shape), axis_));
      }
      Shape other = input.shape;
      joined[axis_] += other[axis_];
      other[axis_] = joined[axis_];
      if (joined != other) {
        throw InvalidInput(fmt::format("shapes {} and {} differ outside axis {}",
                                       to_string(inputs[0].shape), to_string(input.shape), axis_));
      }
    }
    check_size(joined);
    return {{joined, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    Shape shape = inputs[0].shape();
    const auto [before, behind] = around(shape, axis_);
    for (const Tensor& input : inputs.subspan(1)) shape[axis_] += input.dim(axis_);
    Tensor joined = Tensor::empty(shape, inputs[0].dtype());
    const int64_t row = shape[axis_] * behind;
    with_element_type(joined.dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* out = joined.mutable_data<T>();
      for (const Tensor& input : inputs) {
        const Tensor part = input.contiguous();
        const int64_t length = part.dim(axis_) * behind;
        const int64_t grain = std::max<int64_t>(1, 16384 / (length + 1));
        parallel_for(before, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            std::copy_n(part.data<T>() + i * length, length, out + i * row);
          }
        });
        out += length;
      }
    });
    return {{joined}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    Tensors results(wanted.size());
    int64_t start = 0;
    for (size_t input = 0; input < wanted.size(); ++input) {
      const int64_t length = call.input_types[input].shape[axis_];
      if (wanted[input]) results[input] = dy[0].slice(axis_, start, length);
      start += length;
    }
    return results;
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (axis == axis_) return std::nullopt;
    return AxisFlow{std::vector<int>(inputs.size(), axis), true};
  }

 private:
  int axis_;
};

}  // namespace

Value concat(GraphBuilder& graph, Value a, Value b, int axis, std::string name) {
  return concat(graph, {a, b}, axis, std::move(name));
}

Value concat(GraphBuilder& graph, std::vector<Value> parts, int axis, std::string name) {
  return graph.add(std::make_shared<ConcatOp>(axis), std::move(parts), std::move(name));
}

}  // namespace whyformer
