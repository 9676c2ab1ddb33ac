#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "ops/dynamic_span.h"
#include "ops/helpers.h"
#include "ops/layers.h"
#include "ops/quantised.h"

namespace whyformer {
namespace {

// A scalar, a vector along `axis`, or anything of x's rank, in a shape that broadcasts to x.
Value along_axis(GraphBuilder& graph, Value numbers, const Shape& x, int axis,
                 const std::string& name) {
  if (!numbers.valid()) return numbers;
  const Shape& shape = graph.shape(numbers);
  if (element_count(shape) == 1 && shape.size() != x.size())
    return reshape(graph, numbers, {}, name);
  if (shape.size() != 1 || axis < 0 || axis >= static_cast<int>(x.size()) || x.size() == 1) {
    return numbers;
  }
  Shape spread(x.size(), 1);
  spread[axis] = shape[0];
  return reshape(graph, numbers, spread, name);
}

// Calls use(first, last, scale, zero) for every run of elements that share scale and zero.
template <typename T, typename Use>
void for_each_run(const Shape& shape, const Tensor& scale, const Tensor& zero, const Use& use) {
  const int64_t count = element_count(shape);
  const auto one = [](const Tensor& t, double otherwise) {
    return t.defined() ? static_cast<T>(t.to_doubles()[0]) : static_cast<T>(otherwise);
  };
  const bool single =
      (!scale.defined() || scale.size() == 1) && (!zero.defined() || zero.size() == 1);
  if (single) {
    const T s = count == 0 ? T{1} : one(scale, 1), z = count == 0 ? T{0} : one(zero, 0);
    parallel_for(count, 16384, [&](int64_t begin, int64_t end) { use(begin, end, s, z); });
    return;
  }
  const Tensor scales = scale.defined() ? scale.expand(shape) : Tensor();
  const Tensor zeros = zero.defined() ? zero.expand(shape) : Tensor();
  const int rank = static_cast<int>(shape.size());
  const int64_t columns = shape.back(), rows = columns == 0 ? 0 : count / columns;
  const auto offset_of_row = [&](const Tensor& t, int64_t row) {
    int64_t offset = 0;
    for (int axis = rank - 2; axis >= 0; --axis) {
      offset += row % shape[axis] * t.stride(axis);
      row /= shape[axis];
    }
    return offset;
  };
  const bool even = (!scales.defined() || scales.stride(-1) == 0 || columns == 1) &&
                    (!zeros.defined() || zeros.stride(-1) == 0 || columns == 1);
  parallel_for(rows, 16384 / (columns + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* s = scales.defined() ? scales.data<T>() + offset_of_row(scales, row) : nullptr;
      const T* z = zeros.defined() ? zeros.data<T>() + offset_of_row(zeros, row) : nullptr;
      const int64_t at = row * columns;
      if (even) {
        use(at, at + columns, s ? *s : T{1}, z ? *z : T{0});
        continue;
      }
      for (int64_t i = 0; i < columns; ++i) {
        use(at + i, at + i + 1, s ? s[i * scales.stride(-1)] : T{1},
            z ? z[i * zeros.stride(-1)] : T{0});
      }
    }
  });
}

// What both directions share: x, then a scale and a zero where they are there.
template <class Type>
class Quantisation : public Type {
 public:
  Quantisation(bool has_scale, bool has_zero) : has_scale_(has_scale), has_zero_(has_zero) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    for (const ValueType& input : inputs) {
      if (broadcast(inputs[0].shape, input.shape) != inputs[0].shape) {
        throw InvalidInput(fmt::format("scales or zeros {} do not fit an input {}",
                                       to_string(input.shape), to_string(inputs[0].shape)));
      }
      if (input.dtype != inputs[0].dtype || input.dtype == DType::kInt64) {
        throw InvalidInput("input, scale and zero must be held as floats of one width");
      }
    }
    return {inputs[0]};
  }

  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted&) const override {
    Tensors shares(call.inputs.size());
    if (rule.kind != RuleKind::kStop) shares[0] = relevance[0];
    return shares;
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    AxisFlow flow{{}, true};
    for (const ValueType& input : inputs) {
      flow.sources.push_back(broadcast_source(axis, inputs[0].shape, input.shape));
    }
    flow.sources[0] = axis;
    return flow;
  }

 protected:
  Tensor scale_of(TensorSpan inputs) const { return has_scale_ ? inputs[1] : Tensor(); }
  Tensor zero_of(TensorSpan inputs) const {
    return has_zero_ ? inputs[has_scale_ ? 2 : 1] : Tensor();
  }

 private:
  bool has_scale_, has_zero_;
};

// y = clamp(round(x / scale) + zero), dx = dy / scale where x lands in `passing`.
class QuantiseOp final : public Quantisation<ops::QuantizeLinear> {
 public:
  QuantiseOp(bool has_zero, QuantisedRange range, QuantisedRange passing)
      : Quantisation(true, has_zero), range_(range), passing_(passing) {}

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor x = inputs[0].contiguous();
    Tensor y = Tensor::empty(x.shape(), x.dtype());
    with_float_type(x.dtype(), [&](auto type) {
      using T = decltype(type);
      T* out = y.mutable_data<T>();
      const T* from = x.data<T>();
      const T least = static_cast<T>(range_.least), most = static_cast<T>(range_.most);
      for_each_run<T>(x.shape(), scale_of(inputs), zero_of(inputs),
                      [&](int64_t begin, int64_t end, T scale, T zero) {
                        for (int64_t i = begin; i < end; ++i) {
                          const T whole = std::nearbyint(from[i] / scale) + zero;
                          out[i] = whole > least ? std::min(whole, most) : least;
                        }
                      });
    });
    return {{y}, {}};
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const Tensor x = call.inputs[0].contiguous(), from = dy[0].contiguous();
    Tensors results(call.inputs.size());
    results[0] = Tensor::empty(x.shape(), x.dtype());
    with_float_type(x.dtype(), [&](auto type) {
      using T = decltype(type);
      T* out = results[0].template mutable_data<T>();
      const T least = static_cast<T>(passing_.least), most = static_cast<T>(passing_.most);
      for_each_run<T>(x.shape(), scale_of(call.inputs), zero_of(call.inputs),
                      [&](int64_t begin, int64_t end, T scale, T zero) {
                        for (int64_t i = begin; i < end; ++i) {
                          const T whole = std::nearbyint(x.data<T>()[i] / scale) + zero;
                          out[i] =
                              whole >= least && whole <= most ? from.data<T>()[i] / scale : T{0};
                        }
                      });
    });
    return results;
  }

 private:
  QuantisedRange range_, passing_;
};

// y = (x - zero) · scale, dx = dy · scale.
class DequantiseOp final : public Quantisation<ops::DequantizeLinear> {
 public:
  using Quantisation::Quantisation;

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{scaled(inputs[0], scale_of(inputs), zero_of(inputs))}, {}};
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    Tensors results(call.inputs.size());
    results[0] = scaled(dy[0], scale_of(call.inputs), Tensor());
    return results;
  }

 private:
  static Tensor scaled(const Tensor& tensor, const Tensor& scales, const Tensor& zeros) {
    const Tensor x = tensor.contiguous();
    Tensor y = Tensor::empty(x.shape(), x.dtype());
    with_float_type(x.dtype(), [&](auto type) {
      using T = decltype(type);
      T* out = y.mutable_data<T>();
      const T* from = x.data<T>();
      for_each_run<T>(x.shape(), scales, zeros, [&](int64_t begin, int64_t end, T scale, T zero) {
        for (int64_t i = begin; i < end; ++i) out[i] = (from[i] - zero) * scale;
      });
    });
    return y;
  }
};

// {scale, zero} of unsigned 8 bits that span what x spans, 0 included. The graph counts them as
// constants: no gradient and no relevance flows through them.
class DynamicScaleOp final : public ops::DynamicScale {
 public:
  explicit DynamicScaleOp(const SampleAxis& samples = {}) : samples_(samples) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    with_float_type(inputs[0].dtype, [](auto) {});
    const ValueType type{shape_for(inputs[0].shape), inputs[0].dtype};
    return {type, type};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor x = inputs[0].contiguous();
    const Shape shape = shape_for(x.shape());
    Tensor scale = Tensor::empty(shape, x.dtype()), zero = Tensor::empty(shape, x.dtype());
    with_float_type(x.dtype(), [&](auto type) {
      using T = decltype(type);
      const auto spans = dynamic_spans<T>(x, samples_);
      for (int64_t i = 0; i < scale.size(); ++i) {
        scale.mutable_data<T>()[i] = spans[samples_.sample_at(i)].step;
        zero.mutable_data<T>()[i] = spans[samples_.sample_at(i)].zero;
      }
    });
    return {{scale, zero}, {}};
  }

  Tensors gradient(const Call&, TensorSpan, const Wanted&) const override { return {Tensor()}; }

  Tensors relevance(const Call&, TensorSpan, const Rule&, const Wanted&) const override {
    return {Tensor()};
  }

  std::optional<AxisFlow> follow(int, ValueTypes) const override { return std::nullopt; }

  DependsOn depends_on() const override { return DependsOn::kNothing; }

 private:
  Shape shape_for(const Shape& x) const {
    if (samples_.count == 1) return {};
    Shape shape(x.size(), 1);
    shape[samples_.axis] = x[samples_.axis];
    return shape;
  }

  SampleAxis samples_;
};

}  // namespace

std::shared_ptr<const Op> scales_by_sample(const Op& op, const SampleAxis& samples) {
  if (!is_a<ops::DynamicScale>(op)) return nullptr;
  return std::make_shared<DynamicScaleOp>(samples);
}

Value quantise(GraphBuilder& graph, Value x, Value scale, Value zero, int axis,
               QuantisedRange range, std::string name) {
  std::vector<Value> inputs{x, along_axis(graph, scale, graph.shape(x), axis, name)};
  if (zero.valid()) inputs.push_back(along_axis(graph, zero, graph.shape(x), axis, name));
  return graph.add(std::make_shared<QuantiseOp>(zero.valid(), range, range), std::move(inputs),
                   std::move(name));
}

std::vector<Value> quantise_dynamically(GraphBuilder& graph, Value x, std::string name) {
  const std::vector<Value> span = graph.add_all(std::make_shared<DynamicScaleOp>(), {x}, name);
  // Rounding may push the largest element one past the range; that is not being cut off.
  constexpr double kEverything = std::numeric_limits<double>::infinity();
  const auto op = std::make_shared<QuantiseOp>(true, QuantisedRange{0, 255},
                                               QuantisedRange{-kEverything, kEverything});
  return {graph.add(op, {x, span[0], span[1]}, std::move(name)), span[0], span[1]};
}

Value dequantise(GraphBuilder& graph, Value x, Value scale, Value zero, int axis,
                 std::string name) {
  std::vector<Value> inputs{x};
  if (scale.valid()) inputs.push_back(along_axis(graph, scale, graph.shape(x), axis, name));
  if (zero.valid()) inputs.push_back(along_axis(graph, zero, graph.shape(x), axis, name));
  return graph.add(std::make_shared<DequantiseOp>(scale.valid(), zero.valid()), std::move(inputs),
                   std::move(name));
}

}  // namespace whyformer
