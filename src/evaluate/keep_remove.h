// The curves of shap's benchmark: units are shown or hidden one after the other, or in steps of 1 %
// where there are many; those with a score of the wrong sign are passed over.
#pragma once

#include "evaluate/metric.h"

namespace whyformer {

enum class CurveUnits {
  kPositive,  // with a score above 0, the highest first
  kNegative,  // below 0, the lowest first
  kAll        // the largest magnitude first
};

// The curve minus its first value, read at 100 points from 0 to 1, as an area. Nothing where no
// unit takes part.
std::optional<double> keep_remove_area(const Evidence& evidence, CurveUnits units, Hide hide);

// The entry with what all of these curves share.
MetricInfo keep_remove_entry(MetricInfo own);

}  // namespace whyformer
