#include "evaluate/metric.h"

namespace whyformer {

const Metric kComprehensiveness{
    .info = {.name = "comprehensiveness",
             .summary = "mean drop of the answer when the highest-ranked 1, 5, 10, 20 and 50 % of "
                        "the units are hidden",
             .paper = "DeYoung et al., ACL 2020 (ERASER)",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "inputs with hidden units are unlike those that the model was trained on, "
                         "so a drop may come from that; it depends on the way of hiding"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      return mean_drop_without(evidence.ranking(), eraser_sizes(evidence.answers.players()),
                               evidence.answers);
    }};

}  // namespace whyformer
