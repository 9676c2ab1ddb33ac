#include "evaluate/metric.h"

namespace whyformer {

const Metric kInsertion{
    .info = {.name = "insertion",
             .summary =
                 "area under the answer while units are shown one by one, the highest-ranked first",
             .paper = "Petsiuk et al., BMVC 2018 (RISE)",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads =
                 "starts from an uninformative input, about which the model may answer anything"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return path_area(evidence.ranking(), evidence.answers, hide_rest);
    }};

}  // namespace whyformer
