#include <cmath>

#include "evaluate/metric.h"

namespace whyformer {

const Metric kCompleteness{
    .info = {.name = "completeness",
             .summary = "distance between the sum of all scores and the difference of the answers "
                        "with everything shown and everything hidden",
             .paper = "Sundararajan et al., ICML 2017",
             .higher_is_better = false,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "only attributions in the unit of the answer can be complete; for the "
                         "others it says how far they are from being shares of it"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const double whole = evidence.explained(evidence.answers.whole()),
                   nothing = evidence.explained(evidence.answers.nothing());
      return std::abs(evidence.sum_of_all - (whole - nothing));
    }};

}  // namespace whyformer
