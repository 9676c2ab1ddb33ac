#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {

const Metric kIou{
    {.name = "iou",
     .summary = "intersection over union of the region and the cells above the map's mean, mean "
                "over maps",
     .paper = "threshold of Chefer et al., CVPR 2021",
     .misleads = "depends on the threshold: one very high score lifts the mean above the rest of "
                 "the region"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      return std::vector<Ratio>{intersection_over_union(above_mean(scores), region)};
    }};

}  // namespace whyformer
