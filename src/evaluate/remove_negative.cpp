#include "evaluate/keep_remove.h"

namespace whyformer {

const Metric kRemoveNegative{
    .info = keep_remove_entry(
        {.name = "remove-negative",
         .summary = "mean rise of the answer while units with negative scores are hidden, the "
                    "lowest first",
         .higher_is_better = true,
         .misleads = "is not defined without negative scores, as those of attention, and says "
                     "nothing about units with positive scores"}),
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return keep_remove_area(evidence, CurveUnits::kNegative, hide_first);
    }};

}  // namespace whyformer
