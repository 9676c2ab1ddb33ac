#include "evaluate/metric.h"

namespace whyformer {

const Metric kRoad{
    .info = {.name = "road",
             .summary = "road-lerf minus road-morf: how much longer the label stays when the "
                        "lowest-ranked units are hidden first",
             .paper = "Rong et al., ICML 2022 (ROAD)",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads =
                 "as road-morf; it is 0 for a ranking that finds nothing, whatever the model"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const auto lowest = kept_label_share(evidence.lowest_first(), evidence.answers);
      const auto highest = kept_label_share(evidence.ranking(), evidence.answers);
      if (!lowest || !highest) return std::nullopt;
      return *lowest - *highest;
    }};

}  // namespace whyformer
