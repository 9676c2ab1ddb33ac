#include "kernels/resampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/every_target.h"

namespace whyformer {
namespace {

std::vector<uint8_t> random_bytes(int64_t count) {
  std::mt19937 generator(7);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(generator());
  return bytes;
}

// Runs of random places and lengths with weights that sum to 1 or a little beside it, some
// negative.
Taps random_taps(int64_t inputs, int64_t outputs, int64_t longest) {
  std::mt19937 generator(11);
  Taps taps;
  taps.longest = longest;
  for (int64_t x = 0; x < outputs; ++x) {
    const auto count = static_cast<int32_t>(1 + generator() % longest);
    taps.runs.push_back({static_cast<int32_t>(generator() % (inputs - count + 1)), count});
    for (int64_t k = 0; k < longest; ++k) {
      const double share = (k % 5 == 3 ? -0.4 : 1.0) / count;
      taps.weights.push_back(static_cast<int32_t>(share * (1 << kWeightBits)));
    }
  }
  return taps;
}

// By definition, in numbers too large to overflow.
uint8_t plain_sum(const std::vector<uint8_t>& in, int64_t first, int64_t step,
                  const int32_t* weights, int64_t count) {
  int64_t sum = 0;
  for (int64_t k = 0; k < count; ++k) sum += int64_t{in[first + k * step]} * weights[k];
  const double level = static_cast<double>(sum) / (1 << kWeightBits);
  return static_cast<uint8_t>(std::clamp(std::floor(level + 0.5), 0.0, 255.0));
}

TEST(Resampling, AlongRowsIsTheRoundedWeightedSumOfPixels) {
  constexpr int64_t kWidth = 37, kRows = 11, kOutputs = 13;
  const auto in = random_bytes(3 * kWidth * kRows + 1);
  const Taps taps = random_taps(kWidth, kOutputs, 9);
  for_every_target([&] {
    std::vector<uint8_t> out(3 * kOutputs * kRows);
    resample_along_rows(in.data(), 3 * kWidth, out.data(), 3 * kOutputs, kRows, taps);
    for (int64_t y = 0; y < kRows; ++y) {
      for (int64_t i = 0; i < 3 * kOutputs; ++i) {
        const auto [first, count] = taps.runs[i / 3];
        ASSERT_EQ(out[y * 3 * kOutputs + i], plain_sum(in, 3 * (y * kWidth + first) + i % 3, 3,
                                                       taps.weights_of(i / 3), count));
      }
    }
  });
}

TEST(Resampling, AcrossRowsIsTheRoundedWeightedSumOfRows) {
  constexpr int64_t kRowBytes = 77, kRows = 6;
  const auto in = random_bytes(kRowBytes * kRows);
  const Taps taps = random_taps(kRows, 4, kRows);
  for_every_target([&] {
    for (int64_t y = 0; y < taps.outputs(); ++y) {
      const auto [first, count] = taps.runs[y];
      std::vector<uint8_t> out(kRowBytes);
      resample_across_rows(in.data() + first * kRowBytes, kRowBytes, out.data(), kRowBytes,
                           taps.weights_of(y), count);
      for (int64_t i = 0; i < kRowBytes; ++i) {
        ASSERT_EQ(out[i],
                  plain_sum(in, first * kRowBytes + i, kRowBytes, taps.weights_of(y), count));
      }
    }
  });
}

}  // namespace
}  // namespace whyformer
