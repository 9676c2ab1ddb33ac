#include "games/player_samples.h"

#include <algorithm>
#include <cmath>

namespace whyformer {

void PlayerSamples::add(const std::vector<double>& differences) {
  const size_t outputs = differences_.size(), samples = differences.size() / outputs;
  if (samples == 0) return;
  for (size_t output = 0; output < outputs; ++output) {
    RunningMean these;
    for (size_t sample = 0; sample < samples; ++sample) {
      these.add(differences[sample * outputs + output]);
      differences_[output].add(differences[sample * outputs + output]);
    }
    const auto before = static_cast<double>(reckoned_), now = static_cast<double>(samples);
    spread_[output] = (spread_[output] * before + these.variance_of_all() * now) / (before + now);
  }
  reckoned_ += static_cast<int64_t>(samples);
}

int64_t PlayerSamples::missing_for(double target_error) const {
  if (largest_error() <= target_error) return 0;
  double variance = 0;
  for (const RunningMean& difference : differences_)
    variance = std::max(variance, difference.variance());
  const double needed = std::min(1e15, std::ceil(variance / (target_error * target_error)));
  return std::max<int64_t>(2, static_cast<int64_t>(needed) - count());
}

double PlayerSamples::largest_error() const {
  double largest = 0;
  for (const RunningMean& difference : differences_)
    largest = std::max(largest, difference.standard_error());
  return largest;
}

}  // namespace whyformer
