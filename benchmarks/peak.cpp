#include "peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "base/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Enough independent sums to hide the latency of a multiply-add, few enough for 16 registers.
constexpr int kSums = 12;

// Returns the number of operations it made.
double multiply_in_registers(int64_t steps, float* out) {
  const hn::ScalableTag<float> d;
  const auto factor = hn::Set(d, 0.999f);
  const auto term = hn::Set(d, 0.001f);
  hn::Vec<decltype(d)> sum[kSums];
  HWY_UNROLL(16)
  for (int i = 0; i < kSums; ++i) sum[i] = hn::Iota(d, static_cast<float>(i));
  for (int64_t step = 0; step < steps; ++step) {
    HWY_UNROLL(16)
    for (int i = 0; i < kSums; ++i) sum[i] = hn::MulAdd(sum[i], factor, term);
  }
  auto total = sum[0];
  HWY_UNROLL(16)
  for (int i = 1; i < kSums; ++i) total = hn::Add(total, sum[i]);
  *out = hn::GetLane(hn::SumOfLanes(d, total));
  return 2.0 * kSums * static_cast<double>(hn::Lanes(d)) * static_cast<double>(steps);
}

}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace whyformer {
namespace {
HWY_EXPORT(multiply_in_registers);
}  // namespace

double measure_peak_gflops() {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kSteps = 50'000;
  const int threads = thread_count();
  std::vector<float> sinks(threads * 16);
  double best = 0;
  const auto end = Clock::now() + std::chrono::milliseconds(300);
  while (Clock::now() < end) {
    const auto start = Clock::now();
    double operations = 0;
    std::vector<double> counts(threads);
    parallel_for(threads, 1, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        counts[i] = HWY_DYNAMIC_DISPATCH(multiply_in_registers)(kSteps, &sinks[i * 16]);
      }
    });
    const std::chrono::duration<double> time = Clock::now() - start;
    for (const double count : counts) operations += count;
    best = std::max(best, operations / time.count() * 1e-9);
  }
  return best;
}

}  // namespace whyformer
#endif  // HWY_ONCE
