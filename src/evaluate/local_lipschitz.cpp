#include <algorithm>
#include <cmath>

#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"

namespace whyformer {

const Metric kLocalLipschitz{
    .info = {.name = "local-lipschitz",
             .summary =
                 "largest change of the scores over the size of the noise on what enters the model",
             .paper = "Alvarez-Melis and Jaakkola, 2018",
             .higher_is_better = false,
             .needs = MetricNeeds::kNoisyInputs,
             .family = MetricFamily::kRobustness,
             .misleads = "has the unit of scores over input: compare methods only where their "
                         "scores share a unit"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      if (evidence.noisy.empty()) return std::nullopt;
      double largest = 0;
      for (const NoisyScores& noisy : evidence.noisy) {
        const double change = distance(noisy.scores, evidence.scores) / noisy.distance;
        if (!std::isfinite(change)) return std::nullopt;
        largest = std::max(largest, change);
      }
      return largest;
    }};

}  // namespace whyformer
