// What benchmarks/which_metric found. docs/evaluation.md shows the same table.
#include <algorithm>
#include <array>

#include "whyformer/evaluate.h"

namespace whyformer {
namespace {

constexpr std::array kInputs{"sentences", "pictures", "table rows"};

struct Row {
  std::string_view metric;
  struct Found {
    double correlation, low, high;
  };
  std::array<Found, kInputs.size()> by_inputs;
};

constexpr auto kRows = std::to_array<Row>({
    {"sensitivity-n", {{{0.86, 0.85, 0.88}, {0.45, 0.38, 0.52}, {0.83, 0.80, 0.87}}}},
    {"comprehensiveness", {{{0.81, 0.79, 0.84}, {0.46, 0.39, 0.54}, {0.82, 0.78, 0.86}}}},
    {"faithfulness-correlation", {{{0.89, 0.88, 0.90}, {0.30, 0.19, 0.40}, {0.86, 0.83, 0.89}}}},
    {"remove-positive", {{{0.80, 0.78, 0.82}, {0.44, 0.36, 0.51}, {0.81, 0.77, 0.84}}}},
    {"region-perturbation", {{{0.79, 0.77, 0.82}, {0.44, 0.36, 0.51}, {0.80, 0.76, 0.83}}}},
    {"faithfulness-estimate", {{{0.89, 0.88, 0.91}, {0.28, 0.16, 0.39}, {0.84, 0.80, 0.88}}}},
    {"insertion", {{{0.83, 0.80, 0.85}, {0.48, 0.38, 0.57}, {0.68, 0.63, 0.73}}}},
    {"irof", {{{0.79, 0.77, 0.82}, {0.40, 0.32, 0.48}, {0.80, 0.76, 0.83}}}},
    {"deletion", {{{0.79, 0.77, 0.82}, {0.40, 0.32, 0.48}, {0.80, 0.76, 0.84}}}},
    {"keep-positive", {{{0.83, 0.80, 0.85}, {0.47, 0.36, 0.57}, {0.66, 0.59, 0.71}}}},
    {"sufficiency", {{{0.76, 0.71, 0.80}, {0.44, 0.33, 0.54}, {0.71, 0.67, 0.75}}}},
    {"keep-negative", {{{0.63, 0.54, 0.71}, {0.46, 0.33, 0.57}, {0.76, 0.69, 0.83}}}},
    {"keep-absolute", {{{0.74, 0.70, 0.79}, {0.42, 0.33, 0.50}, {0.69, 0.65, 0.73}}}},
    {"road", {{{0.75, 0.72, 0.79}, {0.39, 0.28, 0.48}, {0.69, 0.63, 0.74}}}},
    {"infidelity-scaled", {{{0.89, 0.88, 0.90}, {0.28, 0.21, 0.36}, {0.66, 0.61, 0.71}}}},
    {"remove-negative", {{{0.81, 0.76, 0.85}, {0.43, 0.30, 0.55}, {0.58, 0.48, 0.66}}}},
    {"road-lerf", {{{0.64, 0.59, 0.70}, {0.36, 0.23, 0.49}, {0.68, 0.62, 0.75}}}},
    {"road-morf", {{{0.72, 0.69, 0.75}, {0.33, 0.23, 0.43}, {0.61, 0.55, 0.67}}}},
    {"remove-absolute", {{{0.71, 0.66, 0.75}, {0.40, 0.30, 0.50}, {0.55, 0.50, 0.59}}}},
    {"positive-perturbation", {{{0.73, 0.70, 0.76}, {0.32, 0.21, 0.42}, {0.60, 0.54, 0.66}}}},
    {"negative-perturbation", {{{0.60, 0.55, 0.65}, {0.32, 0.19, 0.44}, {0.68, 0.62, 0.74}}}},
    {"monotonicity-correlation", {{{0.53, 0.46, 0.59}, {0.25, 0.16, 0.32}, {0.65, 0.61, 0.68}}}},
    {"infidelity", {{{0.41, 0.37, 0.45}, {0.25, 0.16, 0.33}, {0.60, 0.55, 0.65}}}},
    {"completeness", {{{0.28, 0.24, 0.32}, {0.14, 0.06, 0.23}, {0.26, 0.18, 0.34}}}},
    {"non-sensitivity", {{{0.14, 0.09, 0.20}, {-0.14, -0.31, 0.04}, {0.00, -0.10, 0.09}}}},
    {"effective-complexity", {{{-0.14, -0.20, -0.09}, {0.12, -0.06, 0.29}, {0.00, -0.10, 0.10}}}},
    {"max-sensitivity", {{{-0.05, -0.10, 0.00}, {-0.15, -0.27, -0.02}, {0.12, 0.04, 0.19}}}},
    {"local-lipschitz", {{{-0.15, -0.22, -0.09}, {-0.05, -0.15, 0.04}, {-0.40, -0.48, -0.33}}}},
});

}  // namespace

std::vector<TruthFollowed> truth_followed(std::string_view metric) {
  const auto row = std::ranges::find(kRows, metric, &Row::metric);
  if (row == kRows.end()) return {};
  std::vector<TruthFollowed> result;
  for (size_t i = 0; i < kInputs.size(); ++i) {
    const Row::Found& found = row->by_inputs[i];
    result.push_back({kInputs[i], found.correlation, found.low, found.high});
  }
  return result;
}

std::optional<double> mean_truth_followed(std::string_view metric) {
  const std::vector<TruthFollowed> found = truth_followed(metric);
  if (found.empty()) return std::nullopt;
  double sum = 0;
  for (const TruthFollowed& one : found) sum += one.correlation;
  return sum / static_cast<double>(found.size());
}

bool follows_truth(std::string_view metric) {
  const std::vector<TruthFollowed> found = truth_followed(metric);
  constexpr double kHardly = 0.1;
  return !found.empty() &&
         std::ranges::all_of(found, [](const auto& one) { return one.low > kHardly; });
}

}  // namespace whyformer
