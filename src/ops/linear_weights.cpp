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
  if (weight_.rank() != 2 || weight_.dtype() == DType::kInt64) {
    throw InvalidInput("the weight of a Linear must be a matrix of floats but has the shape " +
                       to_string(weight_.shape()));
  }
  if (bias_.defined() && (bias_.shape() != Shape{weight_.dim(0)} || bias_.dtype() != weight_.dtype())) {
    throw InvalidInput(fmt::format("a bias {} does not fit a weight {}", to_string(bias_.shape()),
                                   to_string(weight_.shape())));
  }
}

Tensor LinearWeights::weights_of(WeightPart part) const {
  switch (part) {
    case WeightPart::kPositive:
      return map([](auto w) { return std::max(w, decltype(w){0}); }, weight_);
    case WeightPart::kNegative:
      return map([](auto w) { return std::min(w, decltype(w){0}); }, weight_);
    case WeightPart::kMagnitude:
      return map([](auto w) { return std::abs(w); }, weight_);
    case WeightPart::kAll: break;
  }
  return weight_;
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
    multiply_packed(from + range.begin * depth, range.end - range.begin, depth,
                    panels(direction, part), to + range.begin * columns, columns,
                    {.bias = bias.defined() ? bias.data<float>() : nullptr});
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
