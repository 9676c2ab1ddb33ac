#include "evaluate/keep_remove.h"

namespace whyformer {

const Metric kKeepNegative{
    .info = {.name = "keep-negative",
             .summary = "mean change of the answer of a hidden input while units with negative "
                        "scores are shown, the lowest first",
             .paper = "Lundberg et al., Nature Machine Intelligence 2020",
             .higher_is_better = false,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "is not defined without negative scores, as those of attention, and says "
                         "nothing about units with positive scores"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return keep_remove_area(evidence, CurveUnits::kNegative, hide_rest);
    }};

}  // namespace whyformer
