// Element-wise functions of tensors, in parallel.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "tensor/tensor.h"

namespace whyformer {

template <typename T, typename F, typename... More>
Tensor map_as(const F& f, const Tensor& first, const More&... more) {
  Tensor result = Tensor::empty(first.shape(), first.dtype());
  T* out = result.mutable_data<T>();
  const auto fill = [&](const T* a, const auto*... others) {
    parallel_for(result.size(), 16384, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(f(a[i], others[i]...));
    });
  };
  fill(first.data<T>(), more.template data<T>()...);
  return result;
}

// f of the elements of tensors of one shape and one floating-point type.
template <typename F, typename... More>
Tensor map(const F& f, const Tensor& first, const More&... more) {
  const auto go = [&](const Tensor& a, const auto&... others) {
    return a.dtype() == DType::kFloat32 ? map_as<float>(f, a, others...)
                                        : map_as<double>(f, a, others...);
  };
  return go(first.contiguous(), more.contiguous()...);
}

// Sums over everything but the first axis: one per sample.
std::vector<double> sample_sums(const Tensor& tensor);

// The sum of all elements, and of their magnitudes; the same for any number of threads.
struct Sums {
  double plain = 0;
  double magnitude = 0;
};
Sums sums_of(const Tensor& tensor);

// Each sample (index of the first axis) times its factor.
Tensor scale_samples(const Tensor& tensor, const std::vector<double>& factors);

}  // namespace whyformer
