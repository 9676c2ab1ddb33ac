// Standard errors of anything computed from draws: leave out one block of draws after the other.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace whyformer {

inline constexpr int64_t kJackknifeBlocks = 10;

// From the estimates without each block: √((g - 1)/g · Σ (estimate - mean)²). Infinite for less
// than two blocks.
inline std::vector<double> jackknife_errors(const std::vector<std::vector<double>>& estimates,
                                            size_t size) {
  const double blocks = static_cast<double>(estimates.size());
  std::vector<double> errors(size, std::numeric_limits<double>::infinity());
  if (blocks < 2) return errors;
  for (size_t i = 0; i < size; ++i) {
    double mean = 0, squares = 0;
    for (const std::vector<double>& estimate : estimates) mean += estimate[i] / blocks;
    for (const std::vector<double>& estimate : estimates)
      squares += (estimate[i] - mean) * (estimate[i] - mean);
    errors[i] = std::sqrt((blocks - 1) / blocks * squares);
  }
  return errors;
}

}  // namespace whyformer
