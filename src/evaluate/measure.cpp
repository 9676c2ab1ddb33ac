#include <fmt/format.h>

#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"
#include "whyformer/error.h"

namespace whyformer {

std::optional<double> measure(std::string_view name, std::span<const double> scores,
                              const AskHidden& ask, int64_t seed) {
  const Metric& metric = find_metric(name);
  const MetricNeeds needs = metric.info.needs;
  if (needs != MetricNeeds::kScores && needs != MetricNeeds::kAnswers) {
    throw InvalidInput(
        fmt::format("{} needs {}, not answers with hidden units", metric.info.name,
                    needs == MetricNeeds::kRegion ? "a region" : "scores of noisy inputs"));
  }
  if (needs == MetricNeeds::kAnswers && !ask) {
    throw InvalidInput(metric.info.name + " needs the model's answers with units hidden");
  }
  if (scores.empty()) throw InvalidInput(metric.info.name + ": there are no scores");
  if (!all_finite(scores)) {
    throw InvalidInput(metric.info.name + ": scores must be finite numbers");
  }
  HiddenAnswers answers(static_cast<int64_t>(scores.size()), [&](const auto& questions) {
    const std::vector<double> values = ask(questions);
    if (values.size() != questions.size()) {
      throw InvalidInput(
          fmt::format("{} answers to {} questions", values.size(), questions.size()));
    }
    std::vector<HiddenAnswer> found;
    for (const double value : values) found.push_back({.value = value, .output = value});
    return found;
  });
  double sum = 0;
  for (const double score : scores) sum += score;
  const Evidence evidence{.scores = scores, .answers = answers, .sum_of_all = sum, .seed = seed};
  return answers.complete([&] { return metric.measure(evidence); });
}

}  // namespace whyformer
