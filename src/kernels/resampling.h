// Weighted sums of neighbouring pixels in PIL's fixed-point arithmetic, to the last bit.
#pragma once

#include <cstdint>
#include <vector>

namespace whyformer {

// Weights are multiples of 2^-22: sums of 8-bit samples then fit 32 bits with two bits to spare.
inline constexpr int kWeightBits = 32 - 8 - 2;

// Each output sample is the weighted sum of `count` input samples from `first` on.
struct Taps {
  struct Run {
    int32_t first;
    int32_t count;
  };
  std::vector<Run> runs;         // one per output sample
  std::vector<int32_t> weights;  // [outputs, longest]
  int64_t longest = 0;

  int64_t outputs() const { return static_cast<int64_t>(runs.size()); }
  const int32_t* weights_of(int64_t output) const { return weights.data() + output * longest; }
};

// Rows of RGB pixels, each to `taps.outputs()` pixels. More than one row: a byte beyond the last
// pixel is read too, and must be there.
void resample_along_rows(const uint8_t* in, int64_t in_row_bytes, uint8_t* out,
                         int64_t out_row_bytes, int64_t rows, const Taps& taps);

// The weighted sum of `count` rows, the first of which is at `in`, sample by sample.
void resample_across_rows(const uint8_t* in, int64_t in_row_bytes, uint8_t* out, int64_t row_bytes,
                          const int32_t* weights, int64_t count);

}  // namespace whyformer
