// What the metrics of ROAD share.
#pragma once

#include "evaluate/metric.h"

namespace whyformer {

// The entry with what all of them share; when they mislead, too, unless it says so itself.
MetricInfo road_entry(MetricInfo own);

}  // namespace whyformer
