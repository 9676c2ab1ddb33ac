// The curves of shap's benchmark: units with positive scores are shown or hidden one after the
// other, the highest first; those without are passed over.
#pragma once

#include "evaluate/metric.h"

namespace whyformer {

// The curve minus its first value, read at 100 points from 0 to 1, as an area.
double positive_area(const Evidence& evidence, Hide hide);

}  // namespace whyformer
