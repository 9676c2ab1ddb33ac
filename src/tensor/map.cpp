#include "tensor/map.h"

#include <cmath>

namespace whyformer {
namespace {

constexpr int64_t kBlock = 65536;

// Blocks of a fixed size are summed on their own and then added up in order.
template <typename T>
Sums sums_as(const Tensor& tensor) {
  const Tensor source = tensor.contiguous();
  const T* values = source.data<T>();
  std::vector<Sums> blocks((source.size() + kBlock - 1) / kBlock);
  parallel_for(static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block) {
      const int64_t last = std::min(source.size(), (block + 1) * kBlock);
      Sums sums;
      for (int64_t i = block * kBlock; i < last; ++i) {
        sums.plain += values[i];
        sums.magnitude += std::abs(values[i]);
      }
      blocks[block] = sums;
    }
  });
  Sums all;
  for (const Sums& block : blocks) {
    all.plain += block.plain;
    all.magnitude += block.magnitude;
  }
  return all;
}

}  // namespace

Sums sums_of(const Tensor& tensor) {
  return tensor.dtype() == DType::kFloat32 ? sums_as<float>(tensor) : sums_as<double>(tensor);
}

std::vector<double> sample_sums(const Tensor& tensor) {
  std::vector<double> sums;
  for (int64_t i = 0; i < tensor.dim(0); ++i) sums.push_back(sums_of(tensor.select(0, i)).plain);
  return sums;
}

Tensor scale_samples(const Tensor& tensor, const std::vector<double>& factors) {
  Tensor result = Tensor::empty(tensor.shape(), tensor.dtype());
  for (size_t i = 0; i < factors.size(); ++i) {
    const double factor = factors[i];
    const auto sample = static_cast<int64_t>(i);
    result.select(0, sample).copy_from(
        map([factor](auto x) { return x * static_cast<decltype(x)>(factor); },
            tensor.select(0, sample)));
  }
  return result;
}

}  // namespace whyformer
