#include "evaluate/metric.h"

namespace whyformer {

const Metric kDeletion{
    .info =
        {.name = "deletion",
         .summary =
             "area under the answer while units are hidden one by one, the highest-ranked first",
         .paper = "Petsiuk et al., BMVC 2018 (RISE)",
         .higher_is_better = false,
         .needs = MetricNeeds::kAnswers,
         .family = MetricFamily::kFaithfulness,
         .misleads = "rewards rankings that find inputs which the model has never seen"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return path_area(evidence.ranking(), evidence.answers, hide_first);
    }};

}  // namespace whyformer
