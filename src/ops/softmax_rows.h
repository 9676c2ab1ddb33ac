// Softmax of some rows of a tensor, each with its part of a mask.
#pragma once

#include "kernels/rows.h"
#include "tensor/tensor.h"

namespace whyformer {

template <typename T>
class SoftmaxRows {
 public:
  // `mask` broadcasts to `shape`; undefined: none.
  SoftmaxRows(const Tensor& mask, const Shape& shape, double scale)
      : columns_(shape.back()), scale_(static_cast<T>(scale)) {
    if (!mask.defined()) return;
    mask_ = mask.expand(shape);
    if (mask_.stride(-1) != 1 && mask_.dim(-1) != 1) mask_ = mask_.contiguous();
  }

  // `scores` and `out`, which may be the same, point at row `first`.
  void apply(const T* scores, T* out, int64_t first, int64_t rows) const {
    if (!mask_.defined()) {
      softmax_rows(scores, out, rows, columns_, scale_, nullptr, 0);
      return;
    }
    for (int64_t row = 0; row < rows; ++row) {
      softmax_rows(scores + row * columns_, out + row * columns_, 1, columns_, scale_,
                   mask_row(first + row), 0);
    }
  }

 private:
  // Where the mask of a row starts.
  const T* mask_row(int64_t row) const {
    int64_t offset = 0;
    for (int axis = mask_.rank() - 2; axis >= 0; --axis) {
      offset += row % mask_.dim(axis) * mask_.stride(axis);
      row /= mask_.dim(axis);
    }
    return mask_.data<T>() + offset;
  }

  Tensor mask_;
  int64_t columns_;
  T scale_;
};

}  // namespace whyformer
