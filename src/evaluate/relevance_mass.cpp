#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"
#include "evaluate/segments.h"

namespace whyformer {

// Not defined for a map without positive scores, whose sum has no shares.
const Metric kRelevanceMass{
    {.name = "relevance-mass",
     .summary = "share of the positive scores' sum that lies in the region, mean over maps",
     .paper = "Arras et al., Information Fusion 2022; the energy-based pointing game of Wang et "
              "al., CVPR workshop 2020",
     .misleads = "ignores negative scores; methods with a positive score everywhere, as attention, "
                 "lose to methods that leave the background at 0"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      if (count_cells(region) == 0) return std::vector<Ratio>{Ratio{}};
      const std::vector<double> near_one = scaled_near_one(scores);
      Ratio mass;
      for (size_t i = 0; i < near_one.size(); ++i) {
        if (near_one[i] <= 0) continue;
        mass.whole += near_one[i];
        if (region[i]) mass.part += near_one[i];
      }
      return std::vector<Ratio>{mass};
    }};

}  // namespace whyformer
