#include "ops/integer_weights.h"

#include <algorithm>

#include "base/parallel.h"

namespace whyformer {

IntegerWeights::IntegerWeights(Tensor weight)
    : linear_(std::make_shared<LinearWeights>(std::move(weight), Tensor())) {
  const int64_t in = linear_->in_features();
  for (int64_t first = 0; in > kExactTerms && first < in; first += kExactTerms) {
    const int64_t count = std::min(kExactTerms, in - first);
    parts_.push_back(
        std::make_unique<LinearWeights>(linear_->weight().slice(1, first, count), Tensor()));
  }
}

Tensor IntegerWeights::apply(const Tensor& rows) const {
  if (parts_.empty() || rows.dtype() == DType::kFloat64) {
    return linear_->apply(rows, Direction::kForward);
  }
  const int64_t size = rows.dim(0) * linear_->out_features();
  std::vector<double> sums(size, 0.0);
  int64_t first = 0;
  for (const auto& part : parts_) {
    const Tensor products =
        part->apply(rows.slice(1, first, part->in_features()), Direction::kForward);
    first += part->in_features();
    const float* addends = products.data<float>();
    parallel_for(size, 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) sums[i] += addends[i];
    });
  }
  Tensor result = Tensor::empty({rows.dim(0), linear_->out_features()}, rows.dtype());
  float* out = result.mutable_data<float>();
  parallel_for(size, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = static_cast<float>(sums[i]);
  });
  return result;
}

}  // namespace whyformer
