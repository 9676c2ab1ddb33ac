#include <algorithm>

#include "evaluate/random_subsets.h"

namespace whyformer {

const Metric kSensitivityN{
    .info = {.name = "sensitivity-n",
             .summary =
                 "correlation of the sum of scores with the drop of the answer over random subsets "
                 "of n units, mean over n of 10, 30, 50, 70 and 90 % with 20 subsets each",
             .paper = "Ancona et al., ICLR 2018",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "interactions between units lower it for exact attributions, too"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const auto players = static_cast<double>(evidence.answers.players());
      double sum = 0;
      int64_t defined = 0;
      for (const double share : {0.1, 0.3, 0.5, 0.7, 0.9}) {
        const auto size = std::max<int64_t>(1, static_cast<int64_t>(share * players));
        const auto found = correlation_over_subsets(evidence, size, 20);
        if (!found) continue;
        sum += *found;
        ++defined;
      }
      if (defined == 0) return std::nullopt;
      return sum / static_cast<double>(defined);
    }};

}  // namespace whyformer
