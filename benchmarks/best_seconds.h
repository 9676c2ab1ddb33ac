// The best of several windows, each the mean of the runs that fill it. Other programs only ever
// slow things down, so the best counts; and they disturb long runs more often than short ones, so
// all who are compared are measured over windows of the same length.
#pragma once

#include <algorithm>
#include <chrono>

namespace whyformer {

// Two windows of a second; one run before, unmeasured.
template <typename Work>
double best_seconds(Work work) {
  constexpr double kWindow = 1.0;
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  work();
  double best = 1e9;
  for (int window = 0; window < 2; ++window) {
    const double begin = now();
    int runs = 0;
    do {
      work();
      ++runs;
    } while (now() - begin < kWindow);
    best = std::min(best, (now() - begin) / runs);
  }
  return best;
}

}  // namespace whyformer
