#include <algorithm>

#include "evaluate/metric.h"

namespace whyformer {

// A region is a unit: a patch of a picture, where Samek et al. take squares of 9 x 9 pixels.
const Metric kRegionPerturbation{
    .info = {.name = "region-perturbation",
             .summary = "mean drop of the answer while up to 100 units are hidden one by one, the "
                        "highest-ranked first, with the drop of 0 before the first",
             .paper = "Samek et al., IEEE TNNLS 2017 (AOPC)",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "depends on the number of units and on the way of hiding: the authors "
                         "replace pixels by random ones, here units are hidden as asked for"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const int64_t regions = std::min<int64_t>(100, evidence.answers.players());
      const Ranking ranking = evidence.ranking();
      double sum = 0;
      for (int64_t hidden = 1; hidden <= regions; ++hidden) {
        sum += evidence.answers.whole().value - evidence.answers(hide_first(ranking, hidden)).value;
      }
      return sum / static_cast<double>(regions + 1);
    }};

}  // namespace whyformer
