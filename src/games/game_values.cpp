#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {

double value_behind(GameLink link, double value) {
  if (link == GameLink::kIdentity) return value;
  constexpr double kClip = 1e-15;
  const double p = std::min(1 - kClip, std::max(value, kClip));
  return std::log(p / (1 - p));
}

std::vector<double> LinkedGame::values(const std::vector<Coalition>& coalitions) {
  std::vector<double> values = game_.values(coalitions);
  for (double& value : values) value = value_behind(link_, value);
  return values;
}

std::vector<double> additivity_gaps(const GameValues& values) {
  const size_t outputs = values.base.size();
  std::vector<double> gaps(outputs);
  for (size_t output = 0; output < outputs; ++output) {
    double sum = values.base[output];
    for (size_t at = output; at < values.values.size(); at += outputs) sum += values.values[at];
    gaps[output] = sum - values.full[output];
  }
  return gaps;
}

void check_additivity(const GameValues& values) {
  const std::vector<double> gaps = additivity_gaps(values);
  for (size_t output = 0; output < gaps.size(); ++output) {
    const double full = values.full[output];
    // Also true for NaN.
    if (!(std::abs(gaps[output]) <= 1e-6 * std::max(1.0, std::abs(full)))) {
      throw Error(fmt::format(
          "Adding up values of players, output {}: with the base they make {} where the game "
          "gives {}; players said not to vary may do so, or a coalition has several values",
          output, full + gaps[output], full));
    }
  }
}

}  // namespace whyformer
