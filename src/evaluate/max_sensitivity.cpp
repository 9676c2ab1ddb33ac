#include <algorithm>
#include <cmath>

#include "base/length.h"
#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"

namespace whyformer {

const Metric kMaxSensitivity{
    .info = {.name = "max-sensitivity",
             .summary =
                 "largest relative change of the scores under small noise on what enters the model",
             .paper = "Yeh et al., NeurIPS 2019",
             .higher_is_better = false,
             .needs = MetricNeeds::kNoisyInputs,
             .family = MetricFamily::kRobustness,
             .misleads = "scores that never change have the best value, whatever they say"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const double length = length_or_one(evidence.scores);
      if (evidence.noisy.empty()) return std::nullopt;
      double largest = 0;
      for (const NoisyScores& noisy : evidence.noisy) {
        const double change = distance(noisy.scores, evidence.scores) / length;
        if (!std::isfinite(change)) return std::nullopt;
        largest = std::max(largest, change);
      }
      return largest;
    }};

}  // namespace whyformer
