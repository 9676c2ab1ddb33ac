#include "evaluate/keep_remove.h"

namespace whyformer {

const Metric kKeepAbsolute{
    .info = keep_remove_entry(
        {.name = "keep-absolute",
         .summary = "mean rise of the answer above that of a hidden input while units are "
                    "shown, those with the largest magnitude first",
         .higher_is_better = true,
         .misleads = "shap reads this curve from a loss; read from the answer, units that "
                     "speak against it lower the curve although their scores are right"}),
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return keep_remove_area(evidence, CurveUnits::kAll, hide_rest);
    }};

}  // namespace whyformer
