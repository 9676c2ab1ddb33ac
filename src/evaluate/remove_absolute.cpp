#include "evaluate/keep_remove.h"

namespace whyformer {

const Metric kRemoveAbsolute{
    .info = keep_remove_entry(
        {.name = "remove-absolute",
         .summary = "mean change of the answer while units are hidden, those with the largest "
                    "magnitude first",
         .higher_is_better = false,
         .misleads = "shap reads this curve from a loss; read from the answer, units that "
                     "speak against it lift the curve although their scores are right"}),
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return keep_remove_area(evidence, CurveUnits::kAll, hide_first);
    }};

}  // namespace whyformer
