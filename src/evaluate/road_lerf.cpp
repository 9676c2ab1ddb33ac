#include "evaluate/road.h"

namespace whyformer {

const Metric kRoadLerf{
    .info = road_entry({.name = "road-lerf",
                        .summary =
                            "share of inputs that keep their label, mean over 1, 3, …, 99 % of the "
                            "units hidden, the lowest-ranked first",
                        .higher_is_better = true}),
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return kept_label_share(evidence.lowest_first(), evidence.answers);
    }};

}  // namespace whyformer
