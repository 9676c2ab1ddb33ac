#include "evaluate/keep_remove.h"

namespace whyformer {

const Metric kKeepPositive{
    .info = keep_remove_entry(
        {.name = "keep-positive",
         .summary = "mean rise of the answer above that of a hidden input while units with "
                    "positive scores are shown, the highest first",
         .higher_is_better = true,
         .misleads = "units with negative scores stay hidden, so it says nothing about them"}),
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return keep_remove_area(evidence, CurveUnits::kPositive, hide_rest);
    }};

}  // namespace whyformer
