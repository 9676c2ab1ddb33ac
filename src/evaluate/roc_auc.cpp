#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {

// Mann and Whitney's U over the number of pairs; the sum of average ranks counts a tie as half.
const Metric kRocAuc{
    {.name = "roc-auc",
     .summary = "share of pairs of a cell in the region and one outside in which the first has the "
                "higher score, ties as half; mean over maps",
     .paper = "Fawcett, Pattern Recognition Letters 2006; for regions: Hedström et al., JMLR 2023",
     .misleads = "cells of a large background are easily told apart, so small regions reach high "
                 "values while most of the highest scores lie outside"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      const std::vector<double> ranks = average_ranks(scores);
      const auto inside = static_cast<double>(count_cells(region));
      double sum = 0;
      for (size_t i = 0; i < ranks.size(); ++i) sum += region[i] ? ranks[i] : 0;
      const double pairs = inside * (static_cast<double>(scores.size()) - inside);
      return std::vector<Ratio>{{sum - inside * (inside + 1) / 2, pairs}};
    }};

}  // namespace whyformer
