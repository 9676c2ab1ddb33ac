#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "ops/element_moves.h"
#include "ops/gathering.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// Whether a comes before b; NaN counts as the largest number.
template <typename T>
bool precedes(T a, T b, bool largest) {
  if constexpr (!std::is_same_v<T, int64_t>) {
    if (std::isnan(a) || std::isnan(b)) {
      return largest ? std::isnan(a) && !std::isnan(b) : !std::isnan(a) && std::isnan(b);
    }
  }
  return largest ? a > b : a < b;
}

// The first `count` elements of an axis in order, and where they stood; of equals the first.
class TopKOp final : public ops::TopK {
 public:
  TopKOp(int axis, int64_t count, bool largest) : axis_(axis), count_(count), largest_(largest) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    Shape shape = inputs[0].shape;
    if (axis_ < 0 || axis_ >= static_cast<int>(shape.size()) || count_ < 0 ||
        count_ > shape[axis_]) {
      throw InvalidInput(fmt::format("cannot choose {} elements of axis {} of {}", count_, axis_,
                                     to_string(shape)));
    }
    shape[axis_] = count_;
    return {{shape, inputs[0].dtype}, {shape, DType::kInt64}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    const Tensor& x = inputs[0];
    Shape shape = x.shape();
    shape[axis_] = count_;
    const Tensor indices = best(x.contiguous(), shape);
    Tensors kept;
    if (keep == KeepForBackward::kYes) kept.push_back(indices);
    return {{take(x, element_blocks(x.shape(), indices, axis_), shape), indices}, std::move(kept)};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    if (!dy[0].defined()) return {Tensor()};
    const Shape& shape = call.input_types[0].shape;
    return {sum_blocks(dy[0], element_blocks(shape, call.kept[0], axis_), shape)};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    if (axis == axis_) return std::nullopt;
    return same_axis(axis);
  }

 private:
  Tensor best(const Tensor& x, const Shape& shape) const {
    Tensor indices = Tensor::empty(shape, DType::kInt64);
    const auto [before, behind] = around(shape, axis_);
    const int64_t length = x.dim(axis_), step = behind;
    int64_t* out = indices.mutable_data<int64_t>();
    with_element_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t grain = std::max<int64_t>(1, 1024 / (length + 1));
      parallel_for(before * step, grain, [&](int64_t begin, int64_t end) {
        std::vector<int64_t> order(length);
        for (int64_t line = begin; line < end; ++line) {
          const int64_t slab = line / step, within = line % step;
          const T* values = x.data<T>() + slab * length * step + within;
          std::iota(order.begin(), order.end(), 0);
          std::partial_sort(order.begin(), order.begin() + count_, order.end(),
                            [&](int64_t i, int64_t j) {
                              const T a = values[i * step], b = values[j * step];
                              if (precedes(a, b, largest_)) return true;
                              return !precedes(b, a, largest_) && i < j;
                            });
          for (int64_t k = 0; k < count_; ++k) out[(slab * count_ + k) * step + within] = order[k];
        }
      });
    });
    return indices;
  }

  int axis_;
  int64_t count_;
  bool largest_;
};

}  // namespace

std::vector<Value> top_k(GraphBuilder& graph, Value x, int axis, int64_t count, bool largest,
                         std::string name) {
  return graph.add_all(std::make_shared<TopKOp>(axis, count, largest), {x}, std::move(name));
}

}  // namespace whyformer
