// The fastest of several rounds: other programs only ever slow things down.
#pragma once

#include <algorithm>
#include <chrono>

namespace whyformer {

// At least three rounds, and as many as fit `budget` seconds; one more before, unmeasured.
template <typename Work>
double best_seconds(Work work, double budget) {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  work();
  double best = 1e9;
  const double start = now();
  for (int round = 0; round < 3 || now() - start < budget; ++round) {
    const double begin = now();
    work();
    best = std::min(best, now() - begin);
  }
  return best;
}

}  // namespace whyformer
