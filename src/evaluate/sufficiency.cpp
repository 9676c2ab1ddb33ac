#include "evaluate/metric.h"

namespace whyformer {

const Metric kSufficiency{
    .info =
        {.name = "sufficiency",
         .summary = "mean drop of the answer when only the highest-ranked 1, 5, 10, 20 and 50 % of "
                    "the units stay",
         .paper = "DeYoung et al., ACL 2020 (ERASER)",
         .higher_is_better = false,
         .needs = MetricNeeds::kAnswers,
         .family = MetricFamily::kFaithfulness,
         .misleads =
             "a model that answers the same without any input makes every ranking look sufficient"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return mean_drop_with_only(evidence.ranking(), eraser_sizes(evidence.answers.players()),
                                 evidence.answers);
    }};

}  // namespace whyformer
