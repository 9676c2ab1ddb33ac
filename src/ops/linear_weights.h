// The constant matrix and bias of a Linear operator, packed once per use for every graph.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <mutex>

#include "kernels/gemm.h"
#include "kernels/gemm_narrow.h"
#include "ops/whole_numbers.h"
#include "tensor/tensor.h"

namespace whyformer {

// Which way rows pass the matrix: y = x·Wᵀ, or back, dx = dy·W.
enum class Direction { kForward, kBackward };

// Which weights take part: relevance rules look at the signs.
enum class WeightPart { kAll, kPositive, kNegative, kMagnitude };

class LinearWeights {
 public:
  // weight [out, in]; bias [out], or undefined for none. Both 32-bit or both 64-bit. A weight whose
  // rows or columns lie in one piece is not copied: it may be a transposed view.
  LinearWeights(Tensor weight, Tensor bias);
  // Whole numbers [out, in] times `scales` (one, or one for each row; undefined for none), 32-bit.
  // They stay whole numbers until somebody asks for the weight itself.
  LinearWeights(std::shared_ptr<const WholeNumbers> numbers, const Tensor& scales, Tensor bias);

  int64_t out_features() const { return out_; }
  int64_t in_features() const { return in_; }
  DType dtype() const { return dtype_; }
  const Tensor& weight() const;
  const Tensor& bias() const { return bias_; }

  // Rows [..., in] to [..., out], or back; `with_bias` forward only. Panels are packed on first
  // use.
  Tensor apply(const Tensor& rows, Direction direction, WeightPart part = WeightPart::kAll,
               bool with_bias = false) const;

  // y = x·Wᵀ + bias in 32 bits, where `then` gets each part of y, rows of `out` features, as soon
  // as it is done.
  using PartDone = std::function<void(float* y, const ProductPart& part)>;
  Tensor apply_then(const Tensor& x, const PartDone& then) const;

 private:
  struct Panels {
    std::once_flag once;
    PackedMatrix packed;
    NarrowMatrix narrow;
  };
  const PackedMatrix& panels(Direction direction, WeightPart part) const;
  const NarrowMatrix& narrow_panels(Direction direction) const;
  void multiply(const float* rows, int64_t count, Direction direction, WeightPart part,
                const Tensor& bias, float* to) const;
  Tensor weights_of(WeightPart part) const;
  Tensor widened() const;
  void check_bias() const;

  int64_t out_, in_;
  DType dtype_;
  mutable std::once_flag widened_once_;
  mutable Tensor weight_;  // of whole numbers: once somebody asked for it
  std::shared_ptr<const WholeNumbers> numbers_;
  std::vector<float> scales_;  // one for each row; empty for none
  Tensor bias_;
  mutable std::array<std::array<Panels, 4>, 2> panels_;
  mutable std::array<Panels, 2> narrow_panels_;
};

}  // namespace whyformer
