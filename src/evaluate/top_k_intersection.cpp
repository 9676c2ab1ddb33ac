#include <algorithm>
#include <cmath>

#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {

// The paper's k is 1000 pixels of 224 x 224. Other maps take the same share, so that a map of
// patches is not its own top.
const Metric kTopKIntersection{
    {.name = "top-k-intersection",
     .summary = "share of the highest 2 % of the scores (1000 of 224 x 224, one at least) that lie "
                "in the region, mean over maps",
     .paper = "Theiner et al., WACV 2022; Quantus (Hedström et al., JMLR 2023)",
     .misleads = "few cells decide; with fewer than 76 cells it is one, as in the pointing game"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      if (count_cells(region) == 0) return std::vector<Ratio>{Ratio{}};
      const double exact = static_cast<double>(scores.size()) * 1000 / (224.0 * 224.0);
      const auto top = static_cast<size_t>(std::max(1.0, std::nearbyint(exact)));
      const size_t found = cells_in_both(largest_cells(scores, top), region);
      return std::vector<Ratio>{{static_cast<double>(found), static_cast<double>(top)}};
    }};

}  // namespace whyformer
