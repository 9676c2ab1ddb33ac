// Percentile bootstrap intervals over examples. A resample depends on the seed, its number and the
// number of examples only: intervals of one set of examples share their resamples.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "whyformer/agreement.h"

namespace whyformer {

struct BootstrapOptions {
  int64_t resamples = 2000;
  double confidence = 0.95;
  int64_t seed = 0;
};

// A number computed from the examples with these indices, which may repeat. Nothing, or a number
// that is not finite, where it is undefined.
using Statistic = std::function<std::optional<double>(std::span<const int64_t> examples)>;

// Nothing for fewer than two examples or where the statistic of all examples is undefined.
// Resamples in which it is undefined count as lying outside the interval, on both sides; where they
// are too many for that, there is no interval.
// Throws InvalidInput unless there is at least one resample and a confidence between 0 and 1.
std::optional<Interval> bootstrap_interval(int64_t examples, const Statistic& statistic,
                                           const BootstrapOptions& options = {});

// The interval of the mean.
std::optional<Interval> mean_interval(std::span<const double> values,
                                      const BootstrapOptions& options = {});

}  // namespace whyformer
