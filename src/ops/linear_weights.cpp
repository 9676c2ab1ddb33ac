#include "ops/linear_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/rows.h"
#include "ops/helpers.h"
#include "tensor/map.h"

namespace whyformer {
namespace {

// Plain product of rows with a constant matrix, for double: c = a·b (+ bias).
void multiply_plain(const Tensor& rows, MatrixView<const double> b, const Tensor& bias,
                    Tensor& result) {
  const int64_t count = rows.dim(0);
  double* c = result.mutable_data<double>();
  for (int64_t i = 0; bias.defined() && i < result.size(); ++i) {
    c[i] = bias.data<double>()[i % b.columns];
  }
  ProductStack<double> product;
  product.a = {rows.data<double>(), count, b.rows, b.rows, 1};
  product.b = b;
  product.c = {c, count, b.columns, b.columns, 1};
  product.accumulate = bias.defined();
  multiply_stack(product);
}

// Rows or columns in one piece are packed as they are, without a copy of the matrix.
bool is_packable(const Tensor& weight) {
  return weight.rank() == 2 && (weight.stride(0) == 1 || weight.stride(1) == 1);
}

}  // namespace

LinearWeights::LinearWeights(Tensor weight, Tensor bias)
    : weight_(is_packable(weight) ? std::move(weight) : weight.contiguous()),
      bias_(bias.defined() ? bias.contiguous() : Tensor()) {
  dtype_ = weight_.dtype();
  if (weight_.rank() != 2 || weight_.dtype() == DType::kInt64) {
    throw InvalidInput("the weight of a Linear must be a matrix of floats but has the shape " +
                       to_string(weight_.shape()));
  }
  out_ = weight_.dim(0);
  in_ = weight_.dim(1);
  check_bias();
}

LinearWeights::LinearWeights(std::shared_ptr<const WholeNumbers> numbers, const Tensor& scales,
                             Tensor bias)
    : out_(numbers->rows()),
      in_(numbers->columns()),
      dtype_(DType::kFloat32),
      numbers_(std::move(numbers)),
      bias_(bias.defined() ? bias.contiguous() : Tensor()) {
  check_bias();
  if (!scales.defined()) return;
  if (scales.dtype() != dtype_ || (scales.size() != 1 && scales.size() != out_)) {
    throw InvalidInput(
        fmt::format("scales {} do not fit a weight of {} rows", to_string(scales.shape()), out_));
  }
  const Tensor factors = scales.contiguous();
  for (int64_t row = 0; row < out_; ++row)
    scales_.push_back(factors.data<float>()[factors.size() == 1 ? 0 : row]);
}

void LinearWeights::check_bias() const {
  if (bias_.defined() && (bias_.shape() != Shape{out_} || bias_.dtype() != dtype_)) {
    throw InvalidInput(fmt::format("a bias {} does not fit a weight {}", to_string(bias_.shape()),
                                   to_string({out_, in_})));
  }
}

Tensor LinearWeights::widened() const {
  Tensor weight = numbers_->floats();
  float* numbers = weight.mutable_data<float>();
  for (int64_t i = 0; i < weight.size() && !scales_.empty(); ++i) numbers[i] *= scales_[i / in_];
  return weight;
}

const Tensor& LinearWeights::weight() const {
  if (numbers_ != nullptr) std::call_once(widened_once_, [&] { weight_ = widened(); });
  return weight_;
}

Tensor LinearWeights::weights_of(WeightPart part) const {
  const Tensor all = numbers_ != nullptr ? widened() : weight_;  // packed, and then let go
  switch (part) {
    case WeightPart::kPositive:
      return map([](auto w) { return std::max(w, decltype(w){0}); }, all);
    case WeightPart::kNegative:
      return map([](auto w) { return std::min(w, decltype(w){0}); }, all);
    case WeightPart::kMagnitude:
      return map([](auto w) { return std::abs(w); }, all);
    case WeightPart::kAll:
      break;
  }
  return all;
}

const NarrowMatrix& LinearWeights::narrow_panels(Direction direction) const {
  Panels& panels = narrow_panels_[static_cast<size_t>(direction)];
  std::call_once(panels.once, [&] {
    const Tensor all = numbers_->floats();
    const float* w = all.data<float>();
    panels.narrow = direction == Direction::kForward ? NarrowMatrix(w, in_, out_, 1, in_)
                                                     : NarrowMatrix(w, out_, in_, in_, 1);
  });
  return panels.narrow;
}

// Whole numbers stay as they are where all of them take part.
void LinearWeights::multiply(const float* rows, int64_t count, Direction direction, WeightPart part,
                             const Tensor& bias, float* to) const {
  const bool forward = direction == Direction::kForward;
  const int64_t depth = forward ? in_ : out_, columns = forward ? out_ : in_;
  const float* addends = bias.defined() ? bias.data<float>() : nullptr;
  if (numbers_ == nullptr || part != WeightPart::kAll) {
    multiply_packed(rows, count, depth, panels(direction, part), to, columns, {.bias = addends});
    return;
  }
  using Along = NarrowScales::Along;
  const Along along = scales_.empty() ? Along::kNone : forward ? Along::kColumns : Along::kRows;
  narrow_panels(direction).multiply(rows, count, depth, to, columns, {along, scales_.data()},
                                    addends);
}

const PackedMatrix& LinearWeights::panels(Direction direction, WeightPart part) const {
  Panels& panels = panels_[static_cast<size_t>(direction)][static_cast<size_t>(part)];
  std::call_once(panels.once, [&] {
    const Tensor weights = weights_of(part);
    const float* w = weights.data<float>();
    const int64_t row = weights.stride(0), column = weights.stride(1);
    panels.packed = direction == Direction::kForward
                        ? PackedMatrix(w, in_features(), out_features(), column, row)
                        : PackedMatrix(w, out_features(), in_features(), row, column);
  });
  return panels.packed;
}

Tensor LinearWeights::apply(const Tensor& x, Direction direction, WeightPart part,
                            bool with_bias) const {
  const bool forward = direction == Direction::kForward;
  const int64_t depth = x.dim(-1);
  const int64_t columns = forward ? out_features() : in_features();
  const Tensor rows = x.contiguous().reshape({row_count(x), depth});
  const Tensor bias = with_bias ? bias_ : Tensor();
  Shape shape = x.shape();
  shape.back() = columns;
  Tensor result = Tensor::empty(shape, x.dtype());
  if (x.dtype() == DType::kFloat32) {
    const float* from = rows.data<float>();
    float* to = result.mutable_data<float>();
    RowRange range{0, rows.dim(0)};
    if (!forward) {
      range = rows_with_content(from, rows.dim(0), depth);
      std::fill_n(to, range.begin * columns, 0.0f);
      std::fill_n(to + range.end * columns, (rows.dim(0) - range.end) * columns, 0.0f);
    }
    multiply(from + range.begin * depth, range.end - range.begin, direction, part, bias,
             to + range.begin * columns);
    return result;
  }
  const Tensor weights = weights_of(part);
  const double* w = weights.data<double>();
  const int64_t row = weights.stride(0), column = weights.stride(1);
  multiply_plain(rows,
                 forward ? MatrixView<const double>{w, depth, columns, column, row}
                         : MatrixView<const double>{w, depth, columns, row, column},
                 bias, result);
  return result;
}

Tensor LinearWeights::apply_then(const Tensor& x, const PartDone& then) const {
  Shape shape = x.shape();
  shape.back() = out_features();
  Tensor result = Tensor::empty(shape);
  float* y = result.mutable_data<float>();
  const Tensor rows = x.contiguous();
  multiply_packed(rows.data<float>(), row_count(x), in_features(),
                  panels(Direction::kForward, WeightPart::kAll), y, out_features(),
                  {.bias = bias_.defined() ? bias_.data<float>() : nullptr,
                   .then = [&](const ProductPart& part) { then(y, part); }});
  return result;
}

}  // namespace whyformer
