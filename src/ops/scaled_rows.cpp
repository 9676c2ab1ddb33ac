#include "ops/scaled_rows.h"

#include <algorithm>

namespace whyformer {

Tensor scaled_rows(const Tensor& rows, const Tensor& scale) {
  Tensor result = Tensor::empty(rows.shape(), rows.dtype());
  result.copy_from(rows);
  const int64_t width = rows.size() / std::max<int64_t>(rows.dim(0), 1);
  const auto multiply = [&]<typename T>(T) {
    T* values = result.mutable_data<T>();
    const T* factors = scale.data<T>();
    for (int64_t i = 0; i < result.size(); ++i) values[i] *= factors[i / width];
  };
  if (rows.dtype() == DType::kFloat64)
    multiply(double{});
  else
    multiply(float{});
  return result;
}

}  // namespace whyformer
