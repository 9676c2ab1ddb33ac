#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {

const Metric kRelevanceRank{
    {.name = "relevance-rank",
     .summary = "share of the region's K cells that are among the K highest scores, mean over maps",
     .paper = "Arras et al., Information Fusion 2022 (relevance rank accuracy)",
     .misleads = "looks at the order alone: a region that hardly stands out counts like one that "
                 "does"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      const size_t cells = count_cells(region);
      const size_t found = cells_in_both(largest_cells(scores, cells), region);
      return std::vector<Ratio>{{static_cast<double>(found), static_cast<double>(cells)}};
    }};

}  // namespace whyformer
