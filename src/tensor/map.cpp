#include "tensor/map.h"

#include <cmath>

namespace whyformer {
namespace {

template <typename F>
double fold(const Tensor& tensor, F f) {
  const Tensor source = tensor.contiguous();
  double sum = 0;
  if (source.dtype() == DType::kFloat32) {
    for (int64_t i = 0; i < source.size(); ++i) sum += f(source.data<float>()[i]);
  } else {
    for (int64_t i = 0; i < source.size(); ++i) sum += f(source.data<double>()[i]);
  }
  return sum;
}

}  // namespace

double sum_of(const Tensor& tensor) {
  return fold(tensor, [](double x) { return x; });
}

double magnitude_of(const Tensor& tensor) {
  return fold(tensor, [](double x) { return std::abs(x); });
}

std::vector<double> sample_sums(const Tensor& tensor) {
  std::vector<double> sums(tensor.dim(0));
  parallel_for(tensor.dim(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sums[i] = sum_of(tensor.select(0, i));
  });
  return sums;
}

Tensor scale_samples(const Tensor& tensor, const std::vector<double>& factors) {
  Tensor result = Tensor::empty(tensor.shape(), tensor.dtype());
  for (size_t i = 0; i < factors.size(); ++i) {
    const double factor = factors[i];
    result.select(0, static_cast<int64_t>(i))
        .copy_from(map([factor](auto x) { return x * static_cast<decltype(x)>(factor); },
                       tensor.select(0, static_cast<int64_t>(i))));
  }
  return result;
}

}  // namespace whyformer
