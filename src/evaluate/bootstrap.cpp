#include "evaluate/bootstrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

void check(const BootstrapOptions& options) {
  if (options.resamples < 1) {
    throw InvalidInput(
        fmt::format("Bootstrap: {} resamples asked for, at least 1 is needed", options.resamples));
  }
  if (!(options.confidence > 0 && options.confidence < 1)) {
    throw InvalidInput(fmt::format(
        "Bootstrap: the confidence is {}, but it must be between 0 and 1", options.confidence));
  }
}

std::optional<double> if_finite(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

void draw_examples(const CounterRandom& random, std::vector<int64_t>& examples) {
  const auto count = static_cast<int64_t>(examples.size());
  for (int64_t i = 0; i < count; ++i) {
    const auto drawn = static_cast<int64_t>(random.uniform(i) * static_cast<double>(count));
    // The largest draw may round up to 1.
    examples[static_cast<size_t>(i)] = std::min(drawn, count - 1);
  }
}

// Between the sorted values around this position, linearly; nothing outside them.
std::optional<double> at_position(std::span<const double> sorted, double position) {
  if (sorted.empty() || position < 0 || position > static_cast<double>(sorted.size() - 1)) {
    return std::nullopt;
  }
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], position - static_cast<double>(below));
}

}  // namespace

std::optional<Interval> bootstrap_interval(int64_t examples, const Statistic& statistic,
                                           const BootstrapOptions& options) {
  check(options);
  if (examples < 2) return std::nullopt;
  std::vector<int64_t> chosen(static_cast<size_t>(examples));
  std::iota(chosen.begin(), chosen.end(), int64_t{0});
  const std::optional<double> value = if_finite(statistic(chosen));
  if (!value) return std::nullopt;
  std::vector<double> drawn;
  for (int64_t resample = 0; resample < options.resamples; ++resample) {
    draw_examples(CounterRandom(options.seed, "bootstrap", resample), chosen);
    if (const auto one = if_finite(statistic(chosen))) drawn.push_back(*one);
  }
  std::sort(drawn.begin(), drawn.end());
  const auto undefined = static_cast<double>(options.resamples) - static_cast<double>(drawn.size());
  const double outside = (1 - options.confidence) / 2 * static_cast<double>(options.resamples - 1);
  const auto low = at_position(drawn, outside - undefined);
  const auto high = at_position(drawn, static_cast<double>(options.resamples - 1) - outside);
  if (!low || !high) return std::nullopt;
  return Interval{*value, *low, *high, examples};
}

std::optional<Interval> mean_interval(std::span<const double> values,
                                      const BootstrapOptions& options) {
  const auto mean = [values](std::span<const int64_t> examples) -> std::optional<double> {
    double sum = 0;
    for (const int64_t example : examples) sum += values[static_cast<size_t>(example)];
    return sum / static_cast<double>(examples.size());
  };
  return bootstrap_interval(static_cast<int64_t>(values.size()), mean, options);
}

}  // namespace whyformer
