#include "evaluate/keep_remove.h"

namespace whyformer {

const Metric kRemovePositive{
    .info = keep_remove_entry(
        {.name = "remove-positive",
         .summary = "mean change of the answer while units with positive scores are hidden, "
                    "the highest first",
         .higher_is_better = false,
         .misleads = "units with negative scores stay shown, so it says nothing about them"}),
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return keep_remove_area(evidence, CurveUnits::kPositive, hide_first);
    }};

}  // namespace whyformer
