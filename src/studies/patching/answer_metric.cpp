#include "studies/patching/answer_metric.h"

#include <algorithm>
#include <cmath>

#include "run/output_space.h"
#include "whyformer/error.h"

namespace whyformer {

AnswerMetric::AnswerMetric(PatchMetric metric, std::optional<Problem> problem, int64_t target,
                           std::optional<int64_t> against)
    : metric_(metric), problem_(problem), target_(target), against_(against) {
  const bool has_probabilities = problem && *problem != Problem::kRegression;
  if (metric != PatchMetric::kLogit && !has_probabilities) {
    throw InvalidInput("this model gives no probabilities: choose the logit as the metric");
  }
  if (against && *against == target) {
    throw InvalidInput("the target and the output it is compared with are the same");
  }
}

double AnswerMetric::value(const std::vector<double>& outputs) const {
  const double own = value_of(outputs, target_);
  return against_ ? own - value_of(outputs, *against_) : own;
}

double AnswerMetric::value_of(const std::vector<double>& outputs, int64_t index) const {
  switch (metric_) {
    case PatchMetric::kLogit:
      return outputs[index];
    case PatchMetric::kProbability:
      return in_space(OutputSpace::kProbability, outputs, index, problem_);
    case PatchMetric::kLogOdds:
      return in_space(OutputSpace::kLogOdds, outputs, index, problem_);
    case PatchMetric::kLoss: {
      // −log p = log(1 + exp(−log-odds)), which neither overflows nor loses small numbers.
      const double log_odds = in_space(OutputSpace::kLogOdds, outputs, index, problem_);
      return log_odds > 0 ? std::log1p(std::exp(-log_odds))
                          : std::log1p(std::exp(log_odds)) - log_odds;
    }
  }
  return 0;
}

std::vector<double> AnswerMetric::gradient(const std::vector<double>& outputs) const {
  std::vector<double> gradient = gradient_of(outputs, target_);
  if (!against_) return gradient;
  const std::vector<double> other = gradient_of(outputs, *against_);
  for (size_t i = 0; i < gradient.size(); ++i) gradient[i] -= other[i];
  return gradient;
}

// All are functions of the log-odds, whose own gradient is the target's unit vector less the
// softmax of the other outputs.
std::vector<double> AnswerMetric::gradient_of(const std::vector<double>& outputs,
                                              int64_t index) const {
  std::vector<double> gradient(outputs.size(), 0.0);
  gradient[index] = 1;
  if (metric_ == PatchMetric::kLogit) return gradient;
  if (!is_sigmoid(*problem_) && outputs.size() > 1) {
    std::vector<double> others = outputs;
    others[index] = -INFINITY;
    others = probabilities_of(std::move(others), Problem::kSingleLabel);
    for (size_t i = 0; i < outputs.size(); ++i) gradient[i] -= others[i];
  }
  const double p = in_space(OutputSpace::kProbability, outputs, index, problem_);
  const double by_log_odds = metric_ == PatchMetric::kProbability ? p * (1 - p)
                             : metric_ == PatchMetric::kLoss      ? p - 1
                                                                  : 1;
  for (double& slope : gradient) slope *= by_log_odds;
  return gradient;
}

std::string name_of(PatchMetric metric) {
  switch (metric) {
    case PatchMetric::kLogit:
      return "logit";
    case PatchMetric::kProbability:
      return "probability";
    case PatchMetric::kLogOdds:
      return "log-odds";
    case PatchMetric::kLoss:
      return "loss";
  }
  return "";
}

}  // namespace whyformer
