#include "evaluate/metric.h"

namespace whyformer {

// A segment is a unit, where Rieger and Hansen take superpixels.
const Metric kIrof{
    .info = {.name = "irof",
             .summary =
                 "mean of 1 - answer / answer to the whole input, while units are hidden one "
                 "by one, the highest-ranked first",
             .paper = "Rieger and Hansen, 2020 (IROF)",
             .higher_is_better = true,
             .needs = MetricNeeds::kAnswers,
             .family = MetricFamily::kFaithfulness,
             .misleads = "units are patches or tokens, not superpixels, and hidden as asked for, "
                         "not by the mean colour; the division lets inputs with a small answer "
                         "count as much as sure ones"},
    .measure = [](const Evidence& evidence) -> std::optional<double> {
      const Ranking ranking = evidence.ranking();
      const double whole = evidence.answers.whole().value;
      double sum = 0, steps = 0;
      for (const int64_t size : path_sizes(evidence.answers.players())) {
        if (size == 0) continue;
        sum += evidence.answers(hide_first(ranking, size)).value;
        ++steps;
      }
      if (whole <= 0) return std::nullopt;  // after the questions are asked
      return 1 - sum / steps / whole;
    }};

}  // namespace whyformer
