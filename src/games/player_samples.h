// What sampling_shap knows of one player.
#pragma once

#include <cstdint>
#include <vector>

#include "games/running_mean.h"

namespace whyformer {

class PlayerSamples {
 public:
  explicit PlayerSamples(int64_t outputs) : differences_(outputs), spread_(outputs) {}

  // Differences [samples × outputs] that the player made.
  void add(const std::vector<double>& differences);
  // A negative share: shap samples nothing, but reckons with so many samples less.
  void owe(int64_t samples) { reckoned_ -= samples; }

  int64_t count() const { return differences_[0].count(); }
  const RunningMean& difference(int64_t output) const { return differences_[output]; }

  // How much of what is missing at the end this player takes on, before it is divided by the root
  // of `reckoned`. After the first round these are scaled to sum 1 over players; shap averages that
  // with variances of later samples.
  double& spread(int64_t output) { return spread_[output]; }
  double spread(int64_t output) const { return spread_[output]; }
  int64_t reckoned() const { return reckoned_; }

  // How many more samples should bring the largest standard error down to the target.
  int64_t missing_for(double target_error) const;
  double largest_error() const;

 private:
  std::vector<RunningMean> differences_;  // by output
  std::vector<double> spread_;
  int64_t reckoned_ = 0;
};

}  // namespace whyformer
