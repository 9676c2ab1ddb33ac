#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {

// As on ImageNet-segmentation: intersections and unions are summed over all maps before the
// division.
const Metric kMeanIou{
    {.name = "mean-iou",
     .summary = "mean of the IoU of the region (cells above the map's mean) and that of the "
                "background (the rest), cells summed over maps before the division",
     .paper = "Chefer et al., CVPR 2021",
     .misleads = "half of it is the background, which is easily found where it is large"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      std::vector<bool> segment = above_mean(scores);
      std::vector<bool> background = region;
      const Ratio object = intersection_over_union(segment, region);
      segment.flip();
      background.flip();
      return std::vector<Ratio>{object, intersection_over_union(segment, background)};
    },
    OverMaps::kRatioOfSums};

}  // namespace whyformer
