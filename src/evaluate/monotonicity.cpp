#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"

namespace whyformer {

const Metric kMonotonicity{
    .info = {.name = "monotonicity",
             .summary = "share of inputs whose answer never falls while units are shown one by "
                        "one, those with the smallest magnitude first",
             .paper = "Arya et al., 2019 (AI Explainability 360)",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads =
                 "one fall in a long input makes it 0, so long inputs score low with every method"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const Ranking order = by_magnitude(evidence.scores);
      double before = evidence.answers.nothing().value;
      bool rises = true;
      for (const int64_t size : path_sizes(evidence.answers.players())) {
        const double now = evidence.answers(hide_rest(order, size)).value;
        rises = rises && now >= before;
        before = now;
      }
      return rises ? 1 : 0;
    }};

}  // namespace whyformer
