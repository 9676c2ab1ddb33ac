#include <algorithm>

#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"

namespace whyformer {

const Metric kEffectiveComplexity{
    .info =
        {.name = "effective-complexity",
         .summary =
             "number of units whose score is not 0, that is above 1e-5 of the largest magnitude",
         .paper = "Nguyen and Martinez, 2020",
         .higher_is_better = false,
         .needs = MetricNeeds::kScores,
         .family = MetricFamily::kComplexity,
         .misleads = "counts tiny scores as much as large ones"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const std::vector<bool> scored = above_zero(evidence.scores);
      return static_cast<double>(std::count(scored.begin(), scored.end(), true));
    }};

}  // namespace whyformer
