#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/broadcast_map.h"
#include "ops/helpers.h"
#include "ops/reduce_values.h"
#include "ops/reductions.h"
#include "tensor/map.h"

namespace whyformer {
namespace {

// dx = factor(dy, x, y), with dy and y repeated over the reduced axes.
template <typename Factor>
Tensor spread(const Tensor& dy, const Tensor& x, const Tensor& y, const Factor& factor) {
  return with_float_type(dy.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return broadcast_map<T>(factor, x.shape(), as<T>(dy), as<T>(x), as<T>(y));
  });
}

int64_t length_of(const Shape& shape, const std::vector<int>& axes) {
  int64_t count = 1;
  for (const int axis : axes) count *= shape[axis];
  return count;
}

Tensor mean_gradient(const Tensor& dy, const ValueType& type, const std::vector<int>& axes) {
  const auto count = static_cast<double>(length_of(type.shape, axes));
  return map([count](auto d) { return d / static_cast<decltype(d)>(count); }, dy)
      .expand(type.shape)
      .contiguous();
}

// Equals share.
Tensor winners_gradient(const Tensor& dy, const Tensor& x, const Tensor& y,
                        const std::vector<int>& axes) {
  const Tensor wins = spread(y, x, y, [](auto, auto v, auto best) { return v == best; });
  const Tensor ties = reduce_values(wins, Reduction::kSum, axes);
  const Tensor shares =
      map([](auto d, auto count) { return count == 0 ? 0 : d / count; }, dy, ties);
  return spread(shares, x, y, [](auto share, auto v, auto best) { return v == best ? share : 0; });
}

// The product of the others: y / x, but where elements are 0 it is made of those that are not.
Tensor product_gradient(const Tensor& dy, const Tensor& x, const Tensor& y,
                        const std::vector<int>& axes) {
  const Tensor zero = map([](auto v) { return v == 0; }, x);
  const Tensor zeros = reduce_values(zero, Reduction::kSum, axes);
  const Tensor rest =
      reduce_values(map([](auto v) { return v == 0 ? 1 : v; }, x), Reduction::kProduct, axes);
  const Tensor plain =
      spread(dy, x, y, [](auto d, auto v, auto product) { return v == 0 ? 0 : d * product / v; });
  const Tensor lone =
      map([](auto d, auto count, auto product) { return count == 1 ? d * product : 0; }, dy, zeros,
          rest);
  return spread(lone, zero, plain,
                [](auto d, auto is_zero, auto otherwise) { return is_zero != 0 ? d : otherwise; });
}

std::shared_ptr<const Op> op_of(Reduction f, std::vector<int> axes, bool keep_axes) {
  switch (f) {
    case Reduction::kSum:
      return std::make_shared<ops::ReduceSum>(f, std::move(axes), keep_axes);
    case Reduction::kMean:
      return std::make_shared<ops::ReduceMean>(f, std::move(axes), keep_axes);
    case Reduction::kMax:
      return std::make_shared<ops::ReduceMax>(f, std::move(axes), keep_axes);
    case Reduction::kMin:
      return std::make_shared<ops::ReduceMin>(f, std::move(axes), keep_axes);
    case Reduction::kL1:
      return std::make_shared<ops::ReduceL1>(f, std::move(axes), keep_axes);
    case Reduction::kL2:
      return std::make_shared<ops::ReduceL2>(f, std::move(axes), keep_axes);
    case Reduction::kProduct:
      return std::make_shared<ops::ReduceProd>(f, std::move(axes), keep_axes);
    case Reduction::kSumOfSquares:
      return std::make_shared<ops::ReduceSumSquare>(f, std::move(axes), keep_axes);
    case Reduction::kLogSumExp:
      return std::make_shared<ops::ReduceLogSumExp>(f, std::move(axes), keep_axes);
  }
  throw Error("there is no such reduction");
}

}  // namespace

namespace ops {

std::vector<ValueType> Reduce::infer(ValueTypes inputs) const {
  const Shape& shape = inputs[0].shape;
  for (size_t i = 0; i < axes_.size(); ++i) {
    if (axes_[i] < 0 || axes_[i] >= static_cast<int>(shape.size())) {
      throw InvalidInput(fmt::format("there is no axis {} in {}", axes_[i], to_string(shape)));
    }
    if (i > 0 && axes_[i] == axes_[i - 1]) {
      throw InvalidInput(fmt::format("axis {} is named twice", axes_[i]));
    }
  }
  if (f_ == Reduction::kLogSumExp) with_float_type(inputs[0].dtype, [](auto) {});
  return {{output_shape(shape), inputs[0].dtype}};
}

Forward Reduce::forward(std::span<Tensor> inputs, KeepForBackward) const {
  const Shape shape = output_shape(inputs[0].shape());
  return {{reduce_values(inputs[0], f_, axes_).reshape(shape)}, {}};
}

BackwardNeeds Reduce::backward_needs() const {
  const bool linear = f_ == Reduction::kSum || f_ == Reduction::kMean;
  return {.inputs = !linear, .outputs = !linear};
}

Tensors Reduce::gradient(const Call& call, TensorSpan d_outputs, const Wanted&) const {
  const ValueType& type = call.input_types[0];
  if (type.dtype == DType::kInt64) return Tensors(1);
  const Shape one = with_axes_of_one(type.shape, axes_);
  const Tensor dy = d_outputs[0].reshape(one);
  if (f_ == Reduction::kSum) return {dy.expand(type.shape).contiguous()};
  if (f_ == Reduction::kMean) return {mean_gradient(dy, type, axes_)};
  const Tensor& x = call.inputs[0];
  const Tensor y = call.outputs[0].reshape(one);
  switch (f_) {
    case Reduction::kMax:
    case Reduction::kMin:
      return {winners_gradient(dy, x, y, axes_)};
    case Reduction::kL1:
      return {spread(dy, x, y, [](auto d, auto v, auto) { return d * ((v > 0) - (v < 0)); })};
    case Reduction::kL2:
      return {
          spread(dy, x, y, [](auto d, auto v, auto norm) { return norm == 0 ? 0 : d * v / norm; })};
    case Reduction::kProduct:
      return {product_gradient(dy, x, y, axes_)};
    case Reduction::kSumOfSquares:
      return {spread(dy, x, y, [](auto d, auto v, auto) { return 2 * d * v; })};
    default:
      return {spread(dy, x, y, [](auto d, auto v, auto log_sum) {
        return passed_back(d, std::exp(v - log_sum));
      })};
  }
}

// A product of n factors, and a square, count each factor's part.
Tensors Reduce::linearised(const Call& call, TensorSpan d_outputs, const Wanted& wanted) const {
  Tensors results = gradient(call, d_outputs, wanted);
  double factors = 1;
  if (f_ == Reduction::kSumOfSquares) factors = 2;
  if (f_ == Reduction::kProduct)
    factors = static_cast<double>(length_of(call.input_types[0].shape, axes_));
  if (factors == 1 || !results[0].defined()) return results;
  return {map([factors](auto d) { return d / static_cast<decltype(d)>(factors); }, results[0])};
}

// Nothing passes unchanged to another shape: elements have their shares.
Tensors Reduce::relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                          const Wanted& wanted) const {
  if (rule.kind != RuleKind::kIdentity) return Op::relevance(call, relevance, rule, wanted);
  return Op::relevance(call, relevance, {.stabiliser = {0, true}}, wanted);
}

bool Reduce::moves_data() const { return f_ == Reduction::kMax || f_ == Reduction::kMin; }

std::optional<AxisFlow> Reduce::follow(int axis, ValueTypes) const {
  int source = axis;
  for (const int reduced : axes_) {
    if (keep_axes_ && reduced == axis) return std::nullopt;
    if (!keep_axes_ && reduced <= source) ++source;
  }
  return same_axis(source);
}

Shape Reduce::output_shape(const Shape& shape) const {
  Shape result = with_axes_of_one(shape, axes_);
  for (size_t i = axes_.size(); i-- > 0 && !keep_axes_;) result.erase(result.begin() + axes_[i]);
  return result;
}

}  // namespace ops

const ops::Reduce* as_reduction(const Op& op) { return dynamic_cast<const ops::Reduce*>(&op); }

std::vector<int> reduced_axes(const Op& op) {
  const ops::Reduce* reduction = as_reduction(op);
  return reduction == nullptr ? std::vector<int>() : reduction->axes();
}

Value reduce(GraphBuilder& graph, Value x, Reduction f, std::vector<int> axes, bool keep_axes,
             std::string name) {
  if (axes.empty()) {
    axes.resize(graph.shape(x).size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  std::sort(axes.begin(), axes.end());
  return graph.add(op_of(f, std::move(axes), keep_axes), {x}, std::move(name));
}

}  // namespace whyformer
