#include <fmt/format.h>

#include <cmath>

#include "base/parallel.h"
#include "graph/held_weights.h"
#include "ops/helpers.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

// y = n ⊙ weight, n = r·x, r = 1/√(mean(x²) + epsilon); dx = r (g - n mean(g ⊙ n)), g = dy ⊙
// weight.
class RmsNormOp final : public ops::RmsNorm, public HoldsWeights {
 public:
  RmsNormOp(Tensor weight, double epsilon) : weight_(weight.contiguous()), epsilon_(epsilon) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], {{}, weight_.dtype()});
    if (inputs[0].shape.empty() || inputs[0].shape.back() != weight_.size()) {
      throw InvalidInput(fmt::format("the input {} does not fit a weight of {} columns",
                                     to_string(inputs[0].shape), weight_.size()));
    }
    return {inputs[0]};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor x = inputs[0].contiguous();
    Tensor y = Tensor::empty(x.shape(), x.dtype());
    Tensor factors = Tensor::empty({row_count(x)}, x.dtype());
    with_float_type(x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t columns = x.dim(-1);
      const T* weight = weight_.data<T>();
      T* out = y.mutable_data<T>();
      T* r = factors.mutable_data<T>();
      parallel_for(row_count(x), grain(columns), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* from = x.data<T>() + row * columns;
          double squares = 0;
          for (int64_t i = 0; i < columns; ++i) squares += static_cast<double>(from[i]) * from[i];
          r[row] = static_cast<T>(1 / std::sqrt(squares / static_cast<double>(columns) + epsilon_));
          for (int64_t i = 0; i < columns; ++i) {
            out[row * columns + i] = from[i] * r[row] * weight[i];
          }
        }
      });
    });
    return {{y}, {factors}};
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    return {back(call, dy[0], true)};
  }

  // With r held constant.
  Tensors linearised(const Call& call, TensorSpan dy, const Wanted&) const override {
    return {back(call, dy[0], false)};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    return same_axis_mixing_last(axis, static_cast<int>(inputs[0].shape.size()));
  }

  std::vector<HeldWeight> held_weights() const override {
    return {{WeightKind::kScale, weight_.shape(), weight_.dtype()}};
  }

  std::shared_ptr<const Op> with_weights(const Tensors& weights) const override {
    return std::make_shared<RmsNormOp>(weights[0], epsilon_);
  }

 private:
  Tensor back(const Call& call, const Tensor& dy, bool through_factor) const {
    const Tensor from = dy.contiguous();
    const Tensor x = call.inputs[0].contiguous();
    Tensor dx = Tensor::empty(from.shape(), from.dtype());
    with_float_type(from.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const int64_t columns = from.dim(-1);
      const T* weight = weight_.data<T>();
      T* out = dx.mutable_data<T>();
      parallel_for(row_count(from), grain(columns), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* g = from.data<T>() + row * columns;
          const T* values = x.data<T>() + row * columns;
          const T r = call.kept[0].data<T>()[row];
          double mean = 0;
          for (int64_t i = 0; through_factor && i < columns; ++i) {
            mean += static_cast<double>(g[i]) * weight[i] * values[i] * r;
          }
          mean /= static_cast<double>(columns);
          for (int64_t i = 0; i < columns; ++i) {
            out[row * columns + i] = static_cast<T>(r * (g[i] * weight[i] - values[i] * r * mean));
          }
        }
      });
    });
    return dx;
  }

  static int64_t grain(int64_t columns) { return std::max<int64_t>(1, 8192 / (columns + 1)); }

  Tensor weight_;
  double epsilon_;
};

}  // namespace

Value rms_norm(GraphBuilder& graph, Value x, Tensor weight, double epsilon, std::string name) {
  return graph.add(std::make_shared<RmsNormOp>(std::move(weight), epsilon), {x}, std::move(name));
}

}  // namespace whyformer
