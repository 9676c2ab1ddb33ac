#include <algorithm>

#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {

// With x the relevance rank accuracy (the share of these cells that lie in the region): x / (2 -
// x).
const Metric kIouOfEqualArea{
    {.name = "iou-of-equal-area",
     .summary = "intersection over union of the region and as many of the largest scores as it has "
                "cells, mean over maps",
     .paper = "rises with the relevance rank accuracy of Arras et al., Information Fusion 2022"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      const auto cells = static_cast<size_t>(std::count(region.begin(), region.end(), true));
      return std::vector<Ratio>{intersection_over_union(largest_cells(scores, cells), region)};
    }};

}  // namespace whyformer
