// A constant matrix of whole numbers whose products are exact.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "ops/linear_weights.h"

namespace whyformer {

// Products of 9-bit numbers whose sum a 32-bit float holds exactly: 256 · 255² < 2²⁴.
inline constexpr int64_t kExactTerms = 256;

class IntegerWeights {
 public:
  explicit IntegerWeights(Tensor weight);  // [out, in]
  // Of 32-bit models: whole numbers of at most 9 bits that stay as small as they are.
  explicit IntegerWeights(std::shared_ptr<const WholeNumbers> numbers);

  // The matrix as that of a Linear, for what need not be exact.
  const LinearWeights& linear() const { return linear_; }

  // The weights times `scales` (one, or one per row) as those of a Linear with that bias, which may
  // be undefined: made once for all graphs that ask for the same.
  std::shared_ptr<const LinearWeights> scaled(const Tensor& scales, const Tensor& bias) const;

  // Some of the rows by themselves, made once.
  std::shared_ptr<const IntegerWeights> rows(int64_t start, int64_t count) const;

  // Rows [n, in] of whole numbers to [n, out]: exact sums, rounded once. Packed on first use.
  Tensor apply(const Tensor& rows) const;

 private:
  Tensor apply_narrow(const Tensor& rows) const;
  Tensor scaled_weight(const Tensor& scales) const;

  std::shared_ptr<const WholeNumbers> numbers_;  // null: held as floats
  LinearWeights linear_;
  mutable std::once_flag once_;
  mutable std::vector<PackedMatrix> parts_;  // of kExactTerms inputs each
  mutable std::vector<NarrowMatrix> narrow_parts_;

  struct Scaled {
    std::vector<double> scales, bias;
    std::shared_ptr<const LinearWeights> weights;
  };
  mutable std::mutex mutex_;
  mutable std::vector<Scaled> scaled_;
  mutable std::map<std::pair<int64_t, int64_t>, std::shared_ptr<const IntegerWeights>> rows_;
};

}  // namespace whyformer
