#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {

// With x the relevance rank accuracy (the share of these cells that lie in the region): x / (2 -
// x).
const Metric kIouOfEqualArea{
    {.name = "iou-of-equal-area",
     .summary = "intersection over union of the region and as many of the largest scores as it has "
                "cells, mean over maps",
     .paper = "rises with the relevance rank accuracy of Arras et al., Information Fusion 2022",
     .misleads = "uses the region's size, unknown to the method"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      return std::vector<Ratio>{
          intersection_over_union(largest_cells(scores, count_cells(region)), region)};
    }};

}  // namespace whyformer
