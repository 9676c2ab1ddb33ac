#include "evaluate/metric.h"

namespace whyformer {

const Metric kRoadMorf{
    .info = {.name = "road-morf",
             .summary = "share of inputs that keep their label, mean over 1, 3, …, 99 % of the "
                        "units hidden, the highest-ranked first",
             .paper = "Rong et al., ICML 2022 (ROAD)",
             .higher_is_better = false,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads =
                 "the authors hide pixels by noisy linear imputation, which is the way to hide "
                 "impute; the hidden shape itself can give the class away under any other"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return kept_label_share(evidence.ranking(), evidence.answers);
    }};

}  // namespace whyformer
