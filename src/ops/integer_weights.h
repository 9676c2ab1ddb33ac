// A constant matrix of whole numbers whose products are exact.
#pragma once

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

  // The matrix as that of a Linear, for what need not be exact.
  const LinearWeights& linear() const { return linear_; }

  // Rows [n, in] of whole numbers to [n, out]: exact sums, rounded once. Packed on first use.
  Tensor apply(const Tensor& rows) const;

 private:
  LinearWeights linear_;
  mutable std::once_flag once_;
  mutable std::vector<PackedMatrix> parts_;  // of kExactTerms inputs each
};

}  // namespace whyformer
