#include <fmt/format.h>

#include "evaluate/magnitudes.h"
#include "evaluate/metric.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

void check_scores(const Metric& metric, std::span<const double> scores) {
  if (scores.empty()) throw InvalidInput(metric.info.name + ": there are no scores");
  if (all_finite(scores)) return;
  throw InvalidInput(metric.info.name + ": scores must be finite numbers");
}

}  // namespace

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
  check_scores(metric, scores);
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

std::optional<double> measure_under_noise(std::string_view name, std::span<const double> scores,
                                          std::span<const NoisyScores> noisy) {
  const Metric& metric = find_metric(name);
  if (metric.info.needs != MetricNeeds::kNoisyInputs) {
    throw InvalidInput(metric.info.name + " does not read scores of noisy inputs");
  }
  check_scores(metric, scores);
  if (noisy.empty()) throw InvalidInput(metric.info.name + ": there are no noisy scores");
  for (const NoisyScores& one : noisy) {
    check_scores(metric, one.scores);
    if (one.scores.size() != scores.size()) {
      throw InvalidInput(fmt::format("{}: {} scores, but {} of a noisy input", metric.info.name,
                                     scores.size(), one.scores.size()));
    }
    if (one.distance > 0) continue;
    throw InvalidInput(fmt::format("{}: the length of the noise is {}, not positive",
                                   metric.info.name, one.distance));
  }
  HiddenAnswers no_answers(static_cast<int64_t>(scores.size()),
                           [](const auto&) { return std::vector<HiddenAnswer>{}; });
  return metric.measure({.scores = scores, .answers = no_answers, .noisy = noisy});
}

}  // namespace whyformer
