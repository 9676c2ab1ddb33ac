#include "evaluate/road.h"

namespace whyformer {

const Metric kRoadMorf{
    .info = road_entry({.name = "road-morf",
                        .summary =
                            "share of inputs that keep their label, mean over 1, 3, …, 99 % of the "
                            "units hidden, the highest-ranked first",
                        .higher_is_better = false}),
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return kept_label_share(evidence.ranking(), evidence.answers);
    }};

}  // namespace whyformer
