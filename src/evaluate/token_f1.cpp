#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {

// The mean over maps is ERASER's macro-average over instances.
const Metric kTokenF1{
    {.name = "token-f1",
     .summary =
         "F1 of the region and as many of the highest-ranked units as it has, mean over maps",
     .paper = "DeYoung et al., ACL 2020 (ERASER)",
     .misleads = "ERASER takes the mean length of the rationales of a data set; with the length of "
                 "this region precision, recall and F1 are one number, relevance-rank"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      const std::vector<bool> chosen = largest_cells(scores, count_cells(region));
      const auto found = static_cast<double>(cells_in_both(chosen, region));
      const auto both = static_cast<double>(count_cells(chosen) + count_cells(region));
      return std::vector<Ratio>{{2 * found, both}};
    }};

}  // namespace whyformer
