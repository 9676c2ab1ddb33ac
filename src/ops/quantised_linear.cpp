#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/dynamic_span.h"
#include "ops/helpers.h"
#include "ops/integer_weights.h"
#include "ops/layers.h"
#include "ops/linear_relevance.h"
#include "ops/quantised.h"

namespace whyformer {
namespace {

// y = s·(q·Wᵀ)·w + bias with x rounded to q, whole numbers of 8 bits and step s. On the way back it
// is the Linear that those numbers stand for.
class QuantisedLinearOp final : public ops::Linear {
 public:
  QuantisedLinearOp(std::shared_ptr<const IntegerWeights> whole, Tensor scales, const Tensor& bias)
      : whole_(std::move(whole)),
        scales_(std::move(scales)),
        floats_(whole_->scaled(scales_, bias)) {}
  QuantisedLinearOp(const QuantisedLinearOp& other, const SampleAxis& samples)
      : whole_(other.whole_), scales_(other.scales_), floats_(other.floats_), samples_(samples) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], {{}, floats_->dtype()});
    const Shape& shape = inputs[0].shape;
    if (shape.empty() || shape.back() != floats_->in_features()) {
      throw InvalidInput("the input " + to_string(shape) + " does not have the " +
                         std::to_string(floats_->in_features()) + " columns that the weight takes");
    }
    if (samples_.count > 1 && samples_.axis + 1 >= static_cast<int>(shape.size())) {
      throw InvalidInput("the inputs of a batch are no columns");
    }
    return {{output_shape(shape), inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor x = inputs[0].contiguous();
    return with_float_type(x.dtype(), [&](auto type) {
      using T = decltype(type);
      const std::vector<DynamicSpan<T>> spans = spans_of_rows<T>(x);
      const int64_t columns = x.dim(-1);
      Tensor rows = Tensor::empty({row_count(x), columns}, x.dtype());
      T* rounded = rows.template mutable_data<T>();
      parallel_for(rows.dim(0), 16384 / (columns + 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const DynamicSpan<T> span = spans[row];
          for (int64_t i = row * columns; i < (row + 1) * columns; ++i) {
            const T whole = std::nearbyint(x.data<T>()[i] / span.step) + span.zero;
            rounded[i] = std::clamp(whole, T{0}, T{255}) - span.zero;
          }
        }
      });
      Tensor y = whole_->apply(rows).contiguous();
      rescale(y, spans);
      return Forward{{y.reshape(output_shape(x.shape()))}, {}};
    });
  }

  Tensors gradient(const Call&, TensorSpan dy, const Wanted&) const override {
    return {floats_->apply(dy[0], Direction::kBackward)};
  }

  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted&) const override {
    return {linear_relevance(*floats_, call.inputs[0], call.outputs[0], relevance[0], rule)};
  }

  // All rows of an input together decide the step.
  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (axis == static_cast<int>(inputs[0].shape.size()) - 1) return std::nullopt;
    return AxisFlow{{axis}, false};
  }

  const LinearWeights& weights() const override { return *floats_; }

  const std::shared_ptr<const IntegerWeights>& whole() const { return whole_; }
  const Tensor& scales() const { return scales_; }

 private:
  Shape output_shape(Shape shape) const {
    shape.back() = floats_->out_features();
    return shape;
  }

  // Of the input that each row belongs to.
  template <typename T>
  std::vector<DynamicSpan<T>> spans_of_rows(const Tensor& x) const {
    const std::vector<DynamicSpan<T>> spans = dynamic_spans<T>(x, samples_);
    int64_t behind = 1;
    for (int axis = samples_.axis + 1; axis < x.rank() - 1; ++axis) behind *= x.dim(axis);
    std::vector<DynamicSpan<T>> by_row;
    for (int64_t row = 0; row < row_count(x); ++row) {
      by_row.push_back(
          spans[samples_.count == 1 ? 0 : samples_.sample_at(row / behind % x.dim(samples_.axis))]);
    }
    return by_row;
  }

  // Multiplied and added in the order in which files write it down, so that roundings agree.
  template <typename T>
  void rescale(Tensor& sums, const std::vector<DynamicSpan<T>>& spans) const {
    const int64_t columns = sums.dim(1);
    T* y = sums.mutable_data<T>();
    std::vector<T> scales(columns), addends(columns, T{0});
    for (int64_t i = 0; i < columns; ++i) {
      scales[i] = scales_.data<T>()[scales_.size() == 1 ? 0 : i];
      if (floats_->bias().defined()) addends[i] = floats_->bias().data<T>()[i];
    }
    parallel_for(sums.dim(0), 16384 / (columns + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        T* at = y + row * columns;
        const T step = spans[row].step;
        for (int64_t i = 0; i < columns; ++i) at[i] = at[i] * (step * scales[i]) + addends[i];
      }
    });
  }

  std::shared_ptr<const IntegerWeights> whole_;
  Tensor scales_;  // contiguous: one, or one per column
  std::shared_ptr<const LinearWeights> floats_;
  SampleAxis samples_;
};

}  // namespace

Value quantised_linear(GraphBuilder& graph, Value x, std::shared_ptr<const IntegerWeights> weights,
                       const Tensor& scales, const Tensor& bias, std::string name) {
  const auto op = std::make_shared<QuantisedLinearOp>(
      std::move(weights), scales.reshape({scales.size()}).contiguous(), bias);
  return graph.add(op, {x}, std::move(name));
}

std::shared_ptr<const Op> rounding_by_sample(const Op& op, const SampleAxis& samples) {
  const auto* linear = dynamic_cast<const QuantisedLinearOp*>(&op);
  return linear == nullptr ? nullptr : std::make_shared<QuantisedLinearOp>(*linear, samples);
}

std::optional<QuantisedLinearParts> quantised_linear_parts(const Op& op) {
  const auto* linear = dynamic_cast<const QuantisedLinearOp*>(&op);
  if (linear == nullptr) return std::nullopt;
  return QuantisedLinearParts{linear->whole(), linear->scales()};
}

}  // namespace whyformer
