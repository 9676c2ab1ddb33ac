// The constant matrix and bias of a Linear operator, packed once per use for every graph.
#pragma once

#include <array>
#include <functional>
#include <mutex>

#include "kernels/gemm.h"
#include "tensor/tensor.h"

namespace whyformer {

// Which way rows pass the matrix: y = x·Wᵀ, or back, dx = dy·W.
enum class Direction { kForward, kBackward };

// Which weights take part: relevance rules look at the signs.
enum class WeightPart { kAll, kPositive, kNegative, kMagnitude };

class LinearWeights {
 public:
  // weight [out, in]; bias [out], or undefined for none. Both 32-bit or both 64-bit. A weight whose rows
  // or columns lie in one piece is not copied: it may be a transposed view.
  LinearWeights(Tensor weight, Tensor bias);

  int64_t out_features() const { return weight_.dim(0); }
  int64_t in_features() const { return weight_.dim(1); }
  const Tensor& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }

  // Rows [..., in] to [..., out], or back; `with_bias` forward only. Panels are packed on first use.
  Tensor apply(const Tensor& rows, Direction direction, WeightPart part = WeightPart::kAll,
               bool with_bias = false) const;

  // y = x·Wᵀ + bias in 32 bits, where `then` gets each part of y, rows of `out` features, as soon as it
  // is done.
  using PartDone = std::function<void(float* y, const ProductPart& part)>;
  Tensor apply_then(const Tensor& x, const PartDone& then) const;

 private:
  struct Panels {
    std::once_flag once;
    PackedMatrix packed;
  };
  const PackedMatrix& panels(Direction direction, WeightPart part) const;
  Tensor weights_of(WeightPart part) const;

  Tensor weight_;
  Tensor bias_;
  mutable std::array<std::array<Panels, 4>, 2> panels_;
};

}  // namespace whyformer
