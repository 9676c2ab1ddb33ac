#include <fmt/format.h>

#include "base/parallel.h"
#include "graph/held_weights.h"
#include "kernels/rows.h"
#include "ops/helpers.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

// y = n ⊙ weight + bias, n = (x - mean)/σ; dx = (g - mean(g) - n mean(g ⊙ n))/σ, g = dy ⊙ weight.
class LayerNormOp final : public ops::LayerNorm, public HoldsWeights {
 public:
  explicit LayerNormOp(LayerNormWeights weights) : weights_(std::move(weights)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], {{}, weights_.weight.dtype()});
    check_same_type(inputs[0], {{}, weights_.bias.dtype()});
    if (inputs[0].shape.empty()) throw InvalidInput("the input needs at least one axis");
    const int64_t columns = inputs[0].shape.back();
    if (weights_.weight.size() != columns || weights_.bias.size() != columns) {
      throw InvalidInput(fmt::format("the input has {} columns but weight and bias have {} and {}",
                                     columns, weights_.weight.size(), weights_.bias.size()));
    }
    return {inputs[0]};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    inputs[0] = inputs[0].contiguous();
    const ValueType type{inputs[0].shape(), inputs[0].dtype()};
    const int64_t rows = row_count(inputs[0]);
    const int64_t columns = inputs[0].dim(-1);
    return with_float_type(type.dtype, [&](auto zero) {
      using T = decltype(zero);
      const T* x = inputs[0].data<T>();
      Tensor y = reuse_or_allocate(inputs[0], type);
      Tensor normalised, deviation;
      if (keep == KeepForBackward::kYes) {
        normalised = Tensor::empty(type.shape, type.dtype);
        deviation = Tensor::empty({rows}, type.dtype);
      }
      T* out = y.mutable_data<T>();
      T* n = normalised.defined() ? normalised.mutable_data<T>() : nullptr;
      T* d = deviation.defined() ? deviation.mutable_data<T>() : nullptr;
      parallel_for(rows, grain(columns), [&](int64_t begin, int64_t end) {
        const int64_t at = begin * columns;
        layer_norm_rows(x + at, weights_.weight.data<T>(), weights_.bias.data<T>(), out + at,
                        n ? n + at : nullptr, d ? d + begin : nullptr, end - begin, columns,
                        weights_.epsilon);
      });
      return Forward{{y}, {normalised, deviation}};
    });
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const Tensor& normalised = call.kept[0];
    const Tensor from = dy[0].contiguous();
    const int64_t columns = normalised.dim(-1);
    return with_float_type(normalised.dtype(), [&](auto zero) {
      using T = decltype(zero);
      Tensor dx = Tensor::empty(normalised.shape(), normalised.dtype());
      T* out = dx.mutable_data<T>();
      parallel_for(row_count(normalised), grain(columns), [&](int64_t begin, int64_t end) {
        const int64_t at = begin * columns;
        layer_norm_rows_gradient(from.data<T>() + at, weights_.weight.data<T>(),
                                 normalised.data<T>() + at, call.kept[1].data<T>() + begin,
                                 out + at, end - begin, columns);
      });
      return Tensors{dx};
    });
  }

  // With σ held constant: dx = (g - mean(g))/σ.
  Tensors linearised(const Call& call, TensorSpan dy, const Wanted&) const override {
    const Tensor from = dy[0].contiguous();
    const int64_t columns = from.dim(-1);
    return with_float_type(from.dtype(), [&](auto zero) {
      using T = decltype(zero);
      Tensor dx = Tensor::empty(from.shape(), from.dtype());
      T* out = dx.mutable_data<T>();
      const T* weight = weights_.weight.data<T>();
      const T* inverse_deviation = call.kept[1].data<T>();
      parallel_for(row_count(from), grain(columns), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const T* g = from.data<T>() + row * columns;
          double mean = 0;
          for (int64_t i = 0; i < columns; ++i) mean += static_cast<double>(g[i]) * weight[i];
          mean /= static_cast<double>(columns);
          for (int64_t i = 0; i < columns; ++i) {
            out[row * columns + i] =
                static_cast<T>((g[i] * weight[i] - mean) * inverse_deviation[row]);
          }
        }
      });
      return Tensors{dx};
    });
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    return same_axis_mixing_last(axis, static_cast<int>(inputs[0].shape.size()));
  }

  const LayerNormWeights& weights() const override { return weights_; }

  std::vector<HeldWeight> held_weights() const override {
    return {{WeightKind::kScale, weights_.weight.shape(), weights_.weight.dtype()},
            {WeightKind::kBias, weights_.bias.shape(), weights_.bias.dtype()}};
  }

  std::shared_ptr<const Op> with_weights(const Tensors& weights) const override {
    return std::make_shared<LayerNormOp>(
        LayerNormWeights{weights[0], weights[1], weights_.epsilon});
  }

 private:
  static int64_t grain(int64_t columns) { return std::max<int64_t>(1, 8192 / (columns + 1)); }

  LayerNormWeights weights_;
};

}  // namespace

const LayerNormWeights* layer_norm_weights(const Op& op) {
  const auto* norm = op_as<ops::LayerNorm>(op);
  return norm == nullptr ? nullptr : &norm->weights();
}

Value layer_norm(GraphBuilder& graph, Value x, LayerNormWeights weights, std::string name) {
  return graph.add(std::make_shared<LayerNormOp>(std::move(weights)), {x}, std::move(name));
}

}  // namespace whyformer
