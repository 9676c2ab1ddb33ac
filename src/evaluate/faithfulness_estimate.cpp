#include "evaluate/metric.h"
#include "whyformer/agreement.h"

namespace whyformer {

const Metric kFaithfulnessEstimate{
    .info =
        {.name = "faithfulness-estimate",
         .summary =
             "correlation of the scores with the drop of the answer when each unit alone is hidden",
         .paper = "Alvarez-Melis and Jaakkola, NeurIPS 2018",
         .higher_is_better = true,
         .needs = MetricNeeds::kAnswers,
         .family = MetricFamily::kFaithfulness,
         .misleads = "is highest for leave-one-out by definition, so it cannot judge that method"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      std::vector<double> drops;
      for (int64_t i = 0; i < evidence.answers.players(); ++i) {
        drops.push_back(evidence.drop(only_hidden(evidence.answers.players(), i)));
      }
      return pearson(evidence.scores, drops);
    }};

}  // namespace whyformer
