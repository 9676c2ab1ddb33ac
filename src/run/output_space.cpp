#include "run/output_space.h"

#include <algorithm>
#include <cmath>

#include "whyformer/error.h"

namespace whyformer {
namespace {

double log_sum_exp(const std::vector<double>& outputs, int64_t without) {
  double most = -INFINITY;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (static_cast<int64_t>(i) != without) most = std::max(most, outputs[i]);
  }
  if (std::isinf(most)) return most;
  double sum = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (static_cast<int64_t>(i) != without) sum += std::exp(outputs[i] - most);
  }
  return most + std::log(sum);
}

}  // namespace

double in_space(OutputSpace space, const std::vector<double>& outputs, int64_t target,
                std::optional<Problem> problem) {
  const double own = outputs[target];
  if (space == OutputSpace::kLogit) return own;
  if (!problem || *problem == Problem::kRegression) {
    throw InvalidInput(
        "the output is not a class and has no probability: explain it with space=logit");
  }
  const bool by_itself = is_sigmoid(*problem) || outputs.size() == 1;
  const double log_odds = by_itself ? own : own - log_sum_exp(outputs, target);
  return space == OutputSpace::kLogOdds ? log_odds : 1 / (1 + std::exp(-log_odds));
}

std::vector<double> probabilities_of(std::vector<double> outputs, Problem problem) {
  if (is_sigmoid(problem) || outputs.size() == 1) {
    for (double& output : outputs) output = 1 / (1 + std::exp(-output));
    return outputs;
  }
  const double most = *std::max_element(outputs.begin(), outputs.end());
  double sum = 0;
  for (double& output : outputs) sum += output = std::exp(output - most);
  for (double& output : outputs) output /= sum;
  return outputs;
}

OptionInfo space_option(const std::string& fallback) {
  return {"space",
          "output space: the model's logit, the target's probability, or its log-odds",
          fallback,
          {"logit", "probability", "log-odds"}};
}

OutputSpace space_named(const std::string& name) {
  if (name == "probability") return OutputSpace::kProbability;
  return name == "log-odds" ? OutputSpace::kLogOdds : OutputSpace::kLogit;
}

}  // namespace whyformer
