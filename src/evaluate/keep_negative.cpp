#include "evaluate/keep_remove.h"

namespace whyformer {

const Metric kKeepNegative{
    .info = keep_remove_entry(
        {.name = "keep-negative",
         .summary = "mean change of the answer of a hidden input while units with negative "
                    "scores are shown, the lowest first",
         .higher_is_better = false,
         .misleads = "is not defined without negative scores, as those of attention, and says "
                     "nothing about units with positive scores"}),
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return keep_remove_area(evidence, CurveUnits::kNegative, hide_rest);
    }};

}  // namespace whyformer
