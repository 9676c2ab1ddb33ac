#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "ops/helpers.h"
#include "ops/pictures.h"
#include "ops/windows.h"

namespace whyformer {
namespace {

std::optional<AxisFlow> batch_and_channels(int axis) {
  if (axis > 1) return std::nullopt;
  return same_axis(axis);
}

std::vector<ValueType> pooled_type(ValueTypes inputs, const Window& window) {
  const WindowGrid grid(inputs[0].shape, window);
  return {{grid.output_shape(grid.channels()), inputs[0].dtype}};
}

// Calls use(plane) for every channel of every sample, in parallel.
template <typename Use>
void for_each_plane(const WindowGrid& grid, const Use& use) {
  const int64_t work = grid.positions() * std::min(grid.kernel_size(), grid.plane());
  parallel_for(grid.batch() * grid.channels(), 16384 / (work + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t plane = begin; plane < end; ++plane) use(plane);
               });
}

// The largest element under the window; gradient and relevance go to where it was.
class MaxPoolOp final : public ops::MaxPool {
 public:
  explicit MaxPoolOp(Window window) : window_(std::move(window)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    return pooled_type(inputs, window_);
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    const WindowGrid grid(inputs[0].shape(), window_);
    const Tensor x = inputs[0].contiguous();
    Tensor y = Tensor::empty(grid.output_shape(grid.channels()), x.dtype());
    Tensor winners;
    if (keep == KeepForBackward::kYes) winners = Tensor::empty(y.shape(), DType::kInt64);
    with_float_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      int64_t* at = winners.defined() ? winners.mutable_data<int64_t>() : nullptr;
      for_each_plane(grid, [&](int64_t plane) {
        const T* values = from + plane * grid.plane();
        for (int64_t position = 0; position < grid.positions(); ++position) {
          int64_t winner = -1;
          grid.for_each_inside(position, [&](int64_t offset) {
            if (winner < 0 || values[offset] > values[winner] ||
                (std::isnan(values[offset]) && !std::isnan(values[winner]))) {
              winner = offset;
            }
          });
          const int64_t out = plane * grid.positions() + position;
          to[out] = winner < 0 ? -std::numeric_limits<T>::infinity() : values[winner];
          if (at != nullptr) at[out] = winner;
        }
      });
    });
    return {{y}, {winners}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const WindowGrid grid(call.input_types[0].shape, window_);
    const Tensor from = dy[0].contiguous();
    Tensor dx = Tensor::zeros(call.input_types[0].shape, from.dtype());
    with_float_type(from.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* values = from.data<T>();
      const int64_t* at = call.kept[0].data<int64_t>();
      T* out = dx.mutable_data<T>();
      for_each_plane(grid, [&](int64_t plane) {
        for (int64_t i = plane * grid.positions(); i < (plane + 1) * grid.positions(); ++i) {
          if (at[i] >= 0) out[plane * grid.plane() + at[i]] += values[i];
        }
      });
    });
    return {dx};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    return batch_and_channels(axis);
  }

 private:
  Window window_;
};

// The mean of what is under the window; pads count as zeros or not at all.
class AveragePoolOp final : public ops::AveragePool {
 public:
  AveragePoolOp(Window window, bool count_pads)
      : window_(std::move(window)), count_pads_(count_pads) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    return pooled_type(inputs, window_);
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const WindowGrid grid(inputs[0].shape(), window_);
    const Tensor x = inputs[0].contiguous();
    const std::vector<double> shares = shares_of(grid);
    Tensor y = Tensor::empty(grid.output_shape(grid.channels()), x.dtype());
    with_float_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      for_each_plane(grid, [&](int64_t plane) {
        for (int64_t position = 0; position < grid.positions(); ++position) {
          double sum = 0;
          grid.for_each_inside(position,
                               [&](int64_t offset) { sum += from[plane * grid.plane() + offset]; });
          to[plane * grid.positions() + position] = static_cast<T>(sum * shares[position]);
        }
      });
    });
    return {{y}, {}};
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const WindowGrid grid(call.input_types[0].shape, window_);
    const Tensor from = dy[0].contiguous();
    const std::vector<double> shares = shares_of(grid);
    Tensor dx = Tensor::zeros(call.input_types[0].shape, from.dtype());
    with_float_type(from.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* values = from.data<T>();
      T* out = dx.mutable_data<T>();
      for_each_plane(grid, [&](int64_t plane) {
        for (int64_t position = 0; position < grid.positions(); ++position) {
          const T share =
              static_cast<T>(values[plane * grid.positions() + position] * shares[position]);
          grid.for_each_inside(
              position, [&](int64_t offset) { out[plane * grid.plane() + offset] += share; });
        }
      });
    });
    return {dx};
  }

  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted& wanted) const override {
    return Op::relevance(call, relevance, rule_of_fixed_map(rule), wanted);
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    return batch_and_channels(axis);
  }

 private:
  std::vector<double> shares_of(const WindowGrid& grid) const {
    std::vector<double> shares;
    for (int64_t position = 0; position < grid.positions(); ++position) {
      int64_t count = 0;
      if (count_pads_)
        count = grid.padded_count(position);
      else
        grid.for_each_inside(position, [&](int64_t) { ++count; });
      shares.push_back(count == 0 ? 0 : 1.0 / static_cast<double>(count));
    }
    return shares;
  }

  Window window_;
  bool count_pads_;
};

}  // namespace

Value max_pool(GraphBuilder& graph, Value x, Window window, std::string name) {
  return graph.add(std::make_shared<MaxPoolOp>(std::move(window)), {x}, std::move(name));
}

Value average_pool(GraphBuilder& graph, Value x, Window window, bool count_pads, std::string name) {
  return graph.add(std::make_shared<AveragePoolOp>(std::move(window), count_pads), {x},
                   std::move(name));
}

}  // namespace whyformer
