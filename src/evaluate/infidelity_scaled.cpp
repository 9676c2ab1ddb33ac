#include "evaluate/random_subsets.h"

namespace whyformer {

const Metric kScaledInfidelity{
    .info = {.name = "infidelity-scaled",
             .summary = "infidelity after optimal rescaling of the scores",
             .paper = "Yeh et al., NeurIPS 2019",
             .higher_is_better = false,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "the best scale of scores that say nothing is 0, which gives the mean "
                         "squared drop: compare with random rankings"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const std::vector<SubsetDrop> drops = drops_over_all_sizes(evidence, 100);
      const std::optional<double> scale = best_scale(drops);
      if (!scale) return std::nullopt;
      return mean_squared_error(drops, *scale);
    }};

}  // namespace whyformer
