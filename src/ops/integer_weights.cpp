#include "ops/integer_weights.h"

#include <algorithm>

#include "base/parallel.h"
#include "tensor/map.h"

namespace whyformer {

IntegerWeights::IntegerWeights(Tensor weight) : linear_(std::move(weight), Tensor()) {}

IntegerWeights::IntegerWeights(std::shared_ptr<const WholeNumbers> numbers)
    : numbers_(std::move(numbers)), linear_(numbers_, Tensor(), Tensor()) {}

Tensor IntegerWeights::scaled_weight(const Tensor& scales) const {
  const Tensor& whole = linear_.weight();
  const Tensor spread =
      scales.cast(whole.dtype()).reshape({scales.size(), 1}).expand(whole.shape());
  return map([](auto w, auto s) { return w * s; }, whole, spread);
}

std::shared_ptr<const LinearWeights> IntegerWeights::scaled(const Tensor& scales,
                                                            const Tensor& bias) const {
  const std::vector<double> factors = scales.to_doubles();
  const std::vector<double> addends = bias.defined() ? bias.to_doubles() : std::vector<double>{};
  const std::lock_guard lock(mutex_);
  for (const Scaled& made : scaled_) {
    if (made.scales == factors && made.bias == addends) return made.weights;
  }
  auto weights = numbers_ != nullptr
                     ? std::make_shared<const LinearWeights>(numbers_, scales, bias)
                     : std::make_shared<const LinearWeights>(scaled_weight(scales), bias);
  scaled_.push_back({factors, addends, weights});
  return weights;
}

std::shared_ptr<const IntegerWeights> IntegerWeights::rows(int64_t start, int64_t count) const {
  const std::lock_guard lock(mutex_);
  auto& made = rows_[{start, count}];
  if (!made && numbers_ != nullptr)
    made = std::make_shared<IntegerWeights>(some_rows(numbers_, start, count));
  if (!made) {
    made = std::make_shared<IntegerWeights>(linear_.weight().slice(0, start, count).contiguous());
  }
  return made;
}

Tensor IntegerWeights::apply(const Tensor& rows) const {
  if (numbers_ != nullptr) return apply_narrow(rows);
  const int64_t in = linear_.in_features(), out = linear_.out_features(), count = rows.dim(0);
  if (in <= kExactTerms || rows.dtype() == DType::kFloat64) {
    return linear_.apply(rows, Direction::kForward);
  }
  std::call_once(once_, [&] {
    const Tensor& weight = linear_.weight();
    for (int64_t first = 0; first < in; first += kExactTerms) {
      parts_.emplace_back(weight.data<float>() + first * weight.stride(1),
                          std::min(kExactTerms, in - first), out, weight.stride(1),
                          weight.stride(0));
    }
  });
  const Tensor source = rows.contiguous();
  Tensor result = Tensor::empty({count, out}, rows.dtype());
  float* products = result.mutable_data<float>();
  std::vector<double> sums(result.size(), 0.0);
  int64_t first = 0;
  for (const PackedMatrix& part : parts_) {
    multiply_packed(source.data<float>() + first, count, in, part, products, out);
    first += part.depth();
    parallel_for(result.size(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sums[i] += products[i];
    });
  }
  parallel_for(result.size(), 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) products[i] = static_cast<float>(sums[i]);
  });
  return result;
}

// Columns by groups: the sums of a group's parts are added up while they are near.
Tensor IntegerWeights::apply_narrow(const Tensor& rows) const {
  const int64_t in = linear_.in_features(), out = linear_.out_features(), count = rows.dim(0);
  std::call_once(once_, [&] {
    const Tensor weight = numbers_->floats();
    for (int64_t first = 0; first < in; first += kExactTerms) {
      narrow_parts_.emplace_back(weight.data<float>() + first, std::min(kExactTerms, in - first),
                                 out, 1, in);
    }
  });
  const Tensor source = rows.contiguous();
  Tensor result = Tensor::zeros({count, out}, rows.dtype());
  if (count == 0 || narrow_parts_.empty()) return result;
  float* to = result.mutable_data<float>();
  constexpr int64_t kColumns = NarrowMatrix::kGroupColumns;
  parallel_for(narrow_parts_[0].groups(), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> products(count * kColumns);
    std::vector<double> sums(count * kColumns);
    for (int64_t group = begin; group < end; ++group) {
      const int64_t columns = narrow_parts_[0].columns_of(group);
      std::fill(sums.begin(), sums.end(), 0.0);
      for (size_t part = 0; part < narrow_parts_.size(); ++part) {
        const float* from = source.data<float>() + static_cast<int64_t>(part) * kExactTerms;
        narrow_parts_[part].multiply_group(group, from, count, in, products.data(), kColumns);
        for (size_t i = 0; i < sums.size(); ++i) sums[i] += products[i];
      }
      for (int64_t row = 0; row < count; ++row) {
        for (int64_t i = 0; i < columns; ++i)
          to[row * out + group * kColumns + i] = static_cast<float>(sums[row * kColumns + i]);
      }
    }
  });
  return result;
}

}  // namespace whyformer
