#include "kernels/resampling.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resampling.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int32_t kHalf = 1 << (kWeightBits - 1);

// Sums wrap around as vectors do, where scalars of the language must not.
uint8_t weighted_sample(const uint8_t* in, int64_t step, const int32_t* weights, int64_t count) {
  uint32_t sum = kHalf;
  for (int64_t k = 0; k < count; ++k) sum += in[k * step] * static_cast<uint32_t>(weights[k]);
  return static_cast<uint8_t>(std::clamp(static_cast<int32_t>(sum) >> kWeightBits, 0, 255));
}

#if HWY_TARGET != HWY_SCALAR
// The three colours of a pixel, and whatever byte follows, in the four lanes of a vector; four rows
// at a time, so that a weight is loaded once for all of them.
void along_four_rows(const uint8_t* in, int64_t in_row_bytes, uint8_t* out, int64_t out_row_bytes,
                     const Taps& taps) {
  const hn::FixedTag<int32_t, 4> sums;
  const hn::Rebind<uint8_t, decltype(sums)> samples;
  HWY_ALIGN uint8_t pixel[16];
  for (int64_t x = 0; x < taps.outputs(); ++x) {
    const int32_t* weights = taps.weights_of(x);
    const uint8_t* from = in + 3 * taps.runs[x].first;
    auto sum0 = hn::Set(sums, kHalf), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    const auto colours = [&](int64_t row) HWY_ATTR {
      return hn::PromoteTo(sums, hn::LoadU(samples, from + row * in_row_bytes));
    };
    for (int64_t k = 0; k < taps.runs[x].count; ++k, from += 3) {
      const auto weight = hn::Set(sums, weights[k]);
      sum0 = hn::Add(sum0, hn::Mul(colours(0), weight));
      sum1 = hn::Add(sum1, hn::Mul(colours(1), weight));
      sum2 = hn::Add(sum2, hn::Mul(colours(2), weight));
      sum3 = hn::Add(sum3, hn::Mul(colours(3), weight));
    }
    int64_t row = 0;
    for (const auto sum : {sum0, sum1, sum2, sum3}) {
      hn::Store(hn::DemoteTo(samples, hn::ShiftRight<kWeightBits>(sum)), samples, pixel);
      std::copy_n(pixel, 3, out + row++ * out_row_bytes + 3 * x);
    }
  }
}
#endif

void along_rows(const uint8_t* in, int64_t in_row_bytes, uint8_t* out, int64_t out_row_bytes,
                int64_t rows, const Taps& taps) {
#if HWY_TARGET != HWY_SCALAR
  for (; rows >= 4; rows -= 4, in += 4 * in_row_bytes, out += 4 * out_row_bytes) {
    along_four_rows(in, in_row_bytes, out, out_row_bytes, taps);
  }
#endif
  for (; rows > 0; --rows, in += in_row_bytes, out += out_row_bytes) {
    for (int64_t x = 0; x < taps.outputs(); ++x) {
      for (int c = 0; c < 3; ++c) {
        out[3 * x + c] = weighted_sample(in + 3 * taps.runs[x].first + c, 3, taps.weights_of(x),
                                         taps.runs[x].count);
      }
    }
  }
}

void across_rows(const uint8_t* in, int64_t in_row_bytes, uint8_t* out, int64_t row_bytes,
                 const int32_t* weights, int64_t count) {
  const hn::ScalableTag<int32_t> sums;
  const hn::Rebind<uint8_t, decltype(sums)> samples;
  const auto lanes = static_cast<int64_t>(hn::Lanes(sums));
  int64_t i = 0;
  for (; i + lanes <= row_bytes; i += lanes) {
    auto sum = hn::Set(sums, kHalf);
    for (int64_t k = 0; k < count; ++k) {
      const auto row = hn::PromoteTo(sums, hn::LoadU(samples, in + k * in_row_bytes + i));
      sum = hn::Add(sum, hn::Mul(row, hn::Set(sums, weights[k])));
    }
    hn::StoreU(hn::DemoteTo(samples, hn::ShiftRight<kWeightBits>(sum)), samples, out + i);
  }
  for (; i < row_bytes; ++i) out[i] = weighted_sample(in + i, in_row_bytes, weights, count);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace whyformer {

HWY_EXPORT(along_rows);
HWY_EXPORT(across_rows);

void resample_along_rows(const uint8_t* in, int64_t in_row_bytes, uint8_t* out,
                         int64_t out_row_bytes, int64_t rows, const Taps& taps) {
  HWY_DYNAMIC_DISPATCH(along_rows)(in, in_row_bytes, out, out_row_bytes, rows, taps);
}

void resample_across_rows(const uint8_t* in, int64_t in_row_bytes, uint8_t* out, int64_t row_bytes,
                          const int32_t* weights, int64_t count) {
  HWY_DYNAMIC_DISPATCH(across_rows)(in, in_row_bytes, out, row_bytes, weights, count);
}

}  // namespace whyformer
#endif  // HWY_ONCE
