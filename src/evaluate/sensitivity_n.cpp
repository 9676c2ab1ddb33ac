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
      double sum = 0;
      int64_t defined = 0;
      for (const int64_t tenths : {1, 3, 5, 7, 9}) {
        const int64_t size = std::max<int64_t>(1, tenths * evidence.answers.players() / 10);
        const auto found = correlation_over_subsets(evidence, size, 20);
        if (!found) continue;
        sum += *found;
        ++defined;
      }
      if (defined == 0) return std::nullopt;
      return sum / static_cast<double>(defined);
    }};

}  // namespace whyformer
