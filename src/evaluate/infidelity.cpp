#include "evaluate/random_subsets.h"

namespace whyformer {

const Metric kInfidelity{
    .info = {.name = "infidelity",
             .summary = "mean squared difference between the sum of scores and the drop of the "
                        "answer, over 100 random subsets of all sizes",
             .paper = "Yeh et al., NeurIPS 2019",
             .higher_is_better = false,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads =
                 "has the unit of the answer squared: methods whose scores are not in that unit "
                 "(attention, relevance) are judged by their scale; see infidelity-scaled"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return mean_squared_error(drops_over_all_sizes(evidence, 100), 1);
    }};

}  // namespace whyformer
