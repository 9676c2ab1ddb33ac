#include <algorithm>

#include "evaluate/random_subsets.h"

namespace whyformer {

const Metric kFaithfulnessCorrelation{
    .info = {.name = "faithfulness-correlation",
             .summary = "correlation of the sum of scores with the drop of the answer, over 100 "
                        "random subsets of a fifth of the units, two at least",
             .paper = "Bhatt et al., IJCAI 2020",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "depends on the size of the subsets; interactions between units lower it "
                         "for exact attributions, too"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const int64_t players = evidence.answers.players();
      const int64_t size = std::clamp<int64_t>(players / 5, std::min<int64_t>(2, players), players);
      return correlation_over_subsets(evidence, size, 100);
    }};

}  // namespace whyformer
