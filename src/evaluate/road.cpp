#include "evaluate/road.h"

namespace whyformer {

MetricInfo road_entry(MetricInfo own) {
  own.paper = "Rong et al., ICML 2022 (ROAD)";
  own.needs = MetricNeeds::kAnswers;
  own.family = MetricFamily::kFaithfulness;
  if (own.misleads.empty()) {
    own.misleads =
        "the authors hide pixels by noisy linear imputation, which is the way to hide impute; the "
        "hidden shape itself can give the class away under any other";
  }
  return own;
}

const Metric kRoad{
    .info = road_entry(
        {.name = "road",
         .summary = "road-lerf minus road-morf: how much longer the label stays when the "
                    "lowest-ranked units are hidden first",
         .higher_is_better = true,
         .misleads = "as road-morf; it is 0 for a ranking that finds nothing, whatever the model"}),
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const auto lowest = kept_label_share(evidence.lowest_first(), evidence.answers);
      const auto highest = kept_label_share(evidence.ranking(), evidence.answers);
      if (!lowest || !highest) return std::nullopt;
      return *lowest - *highest;
    }};

}  // namespace whyformer
