#include <cmath>

#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"

namespace whyformer {

const Metric kComplexity{
    .info = {.name = "complexity",
             .summary = "entropy of the magnitudes of scores as shares of their sum",
             .paper = "Bhatt et al., IJCAI 2020",
             .higher_is_better = false,
             .needs = MetricNeeds::kScores,
             .family = MetricFamily::kComplexity,
             .misleads = "a simple explanation need not be right"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const std::vector<double> scores = scaled_near_one(evidence.scores);
      const double sum = sum_of_magnitudes(scores);
      if (sum == 0) return std::nullopt;
      double entropy = 0;
      for (const double score : scores) {
        const double share = std::abs(score) / sum;
        if (share > 0) entropy -= share * std::log(share);
      }
      return entropy;
    }};

}  // namespace whyformer
