#include "evaluate/metric.h"

namespace whyformer {

// A map without positive scores has no mass anywhere, so none in the region.
const Metric kRelevanceMass{
    {.name = "relevance-mass",
     .summary = "share of the positive scores' sum that lies in the region, mean over maps",
     .paper = "Arras et al., Information Fusion 2022; the energy-based pointing game of Wang et "
              "al., CVPR workshop 2020"},
    [](std::span<const double> scores, const std::vector<bool>& region) {
      Ratio mass;
      for (size_t i = 0; i < scores.size(); ++i) {
        if (scores[i] <= 0) continue;
        mass.whole += scores[i];
        if (region[i]) mass.part += scores[i];
      }
      return std::vector<Ratio>{mass};
    }};

}  // namespace whyformer
