#include "evaluate/metric.h"

namespace whyformer {

const Metric kPositivePerturbation{
    .info = {.name = "positive-perturbation",
             .summary = "share of inputs that keep their label while the highest-ranked 0 to 90 % "
                        "of the units are hidden, as an area with x = 0 included",
             .paper = "Chefer et al., CVPR 2021",
             .higher_is_better = false,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads =
                 "counts labels, so a fall of the probability that changes no label is not seen"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return kept_label_area(evidence.ranking(), evidence.answers);
    }};

}  // namespace whyformer
