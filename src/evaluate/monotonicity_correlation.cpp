#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"
#include "whyformer/agreement.h"

namespace whyformer {

const Metric kMonotonicityCorrelation{
    .info = {.name = "monotonicity-correlation",
             .summary = "rank correlation of the magnitudes of scores with the squared change of "
                        "the answer when each unit alone is hidden",
             .paper = "Nguyen and Martinez, 2020",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "ignores signs; units that matter only together count as unimportant"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      std::vector<double> changes;
      for (int64_t i = 0; i < evidence.answers.players(); ++i) {
        const double drop = evidence.drop(only_hidden(evidence.answers.players(), i));
        changes.push_back(drop * drop);
      }
      const auto found = spearman(magnitudes_of(evidence.scores), changes);
      if (!found) return std::nullopt;
      return found->value;
    }};

}  // namespace whyformer
