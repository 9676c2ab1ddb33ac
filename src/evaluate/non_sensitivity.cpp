#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"

namespace whyformer {

const Metric kNonSensitivity{
    .info = {.name = "non-sensitivity",
             .summary = "number of units whose score is 0 although hiding them changes the answer, "
                        "or the other way round; 0 is below 1e-5 of the largest",
             .paper = "Nguyen and Martinez, 2020",
             .higher_is_better = false,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "counts units with a small effect as much as units with a large one"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      std::vector<double> drops;
      for (int64_t i = 0; i < evidence.answers.players(); ++i) {
        drops.push_back(evidence.drop(only_hidden(evidence.answers.players(), i)));
      }
      const std::vector<bool> scored = above_zero(evidence.scores), matters = above_zero(drops);
      double count = 0;
      for (size_t i = 0; i < drops.size(); ++i) count += scored[i] != matters[i] ? 1 : 0;
      return count;
    }};

}  // namespace whyformer
