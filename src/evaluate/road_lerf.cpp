#include "evaluate/metric.h"

namespace whyformer {

const Metric kRoadLerf{
    .info = {.name = "road-lerf",
             .summary = "share of inputs that keep their label, mean over 1, 3, …, 99 % of the "
                        "units hidden, the lowest-ranked first",
             .paper = "Rong et al., ICML 2022 (ROAD)",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads =
                 "the authors hide pixels by noisy linear imputation, which is the way to hide "
                 "impute; the hidden shape itself can give the class away under any other"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return kept_label_share(evidence.lowest_first(), evidence.answers);
    }};

}  // namespace whyformer
