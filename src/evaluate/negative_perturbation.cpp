#include "evaluate/metric.h"

namespace whyformer {

const Metric kNegativePerturbation{
    .info = {.name = "negative-perturbation",
             .summary = "share of inputs that keep their label while the lowest-ranked 0 to 90 % "
                        "of the units are hidden, as an area with x = 0 included",
             .paper = "Chefer et al., CVPR 2021",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads =
                 "counts labels, so a fall of the probability that changes no label is not seen"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return kept_label_area(evidence.lowest_first(), evidence.answers);
    }};

}  // namespace whyformer
