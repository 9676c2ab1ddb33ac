// The constant matrix and bias of a Linear operator, packed once per direction for every graph.
#pragma once

#include <mutex>

#include "kernels/gemm.h"
#include "tensor/tensor.h"

namespace whyformer {

class LinearWeights {
 public:
  // weight [out, in]; bias [out], or undefined for none. Both 32-bit or both 64-bit.
  LinearWeights(Tensor weight, Tensor bias);

  int64_t out_features() const { return weight_.dim(0); }
  int64_t in_features() const { return weight_.dim(1); }
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }

  // Packed on first use; 32-bit only.
  const PackedMatrix& forward_panels() const;   // Wᵀ, for y = x·Wᵀ
  const PackedMatrix& backward_panels() const;  // W, for dx = dy·W

 private:
  Tensor weight_;
  Tensor bias_;
  mutable std::once_flag forward_once_, backward_once_;
  mutable PackedMatrix forward_, backward_;
};

}  // namespace whyformer
