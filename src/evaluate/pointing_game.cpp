#include <algorithm>

#include "evaluate/metric.h"

namespace whyformer {

// The first of equal maxima decides; without the paper's tolerance of 15 pixels.
const Metric kPointingGame{
    {.name = "pointing-game",
     .summary = "share of maps whose largest score lies in the region",
     .paper = "Zhang et al., ECCV 2016",
     .misleads = "one cell decides, whatever the others say"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      const auto largest = std::max_element(scores.begin(), scores.end()) - scores.begin();
      return std::vector<Ratio>{{region[static_cast<size_t>(largest)] ? 1.0 : 0.0, 1.0}};
    }};

}  // namespace whyformer
