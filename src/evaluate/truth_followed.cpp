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
    {"insertion", {{{0.84, 0.81, 0.86}, {0.48, 0.38, 0.57}, {0.66, 0.61, 0.71}}}},
    {"keep-positive", {{{0.84, 0.82, 0.87}, {0.48, 0.36, 0.58}, {0.67, 0.60, 0.72}}}},
    {"comprehensiveness", {{{0.83, 0.80, 0.85}, {0.47, 0.39, 0.55}, {0.82, 0.77, 0.86}}}},
    {"sensitivity-n", {{{0.86, 0.84, 0.88}, {0.44, 0.34, 0.52}, {0.84, 0.80, 0.88}}}},
    {"sufficiency", {{{0.77, 0.73, 0.81}, {0.45, 0.34, 0.55}, {0.70, 0.66, 0.74}}}},
    {"infidelity-scaled", {{{0.89, 0.88, 0.90}, {0.37, 0.28, 0.47}, {0.65, 0.61, 0.70}}}},
    {"deletion", {{{0.80, 0.78, 0.82}, {0.39, 0.30, 0.48}, {0.78, 0.74, 0.83}}}},
    {"faithfulness-correlation", {{{0.90, 0.88, 0.91}, {0.29, 0.16, 0.40}, {0.84, 0.81, 0.88}}}},
    {"faithfulness-estimate", {{{0.89, 0.88, 0.91}, {0.27, 0.16, 0.39}, {0.84, 0.81, 0.88}}}},
    {"positive-perturbation", {{{0.75, 0.72, 0.78}, {0.30, 0.20, 0.40}, {0.58, 0.52, 0.64}}}},
    {"negative-perturbation", {{{0.60, 0.56, 0.64}, {0.36, 0.24, 0.47}, {0.69, 0.62, 0.75}}}},
    {"monotonicity-correlation", {{{0.53, 0.46, 0.60}, {0.24, 0.16, 0.32}, {0.65, 0.61, 0.69}}}},
    {"infidelity", {{{0.46, 0.43, 0.49}, {0.19, 0.10, 0.29}, {0.59, 0.54, 0.63}}}},
    {"completeness", {{{0.38, 0.34, 0.41}, {0.07, -0.02, 0.16}, {0.29, 0.22, 0.36}}}},
    {"non-sensitivity", {{{0.22, 0.16, 0.27}, {-0.06, -0.24, 0.10}, {0.05, -0.04, 0.15}}}},
    {"max-sensitivity", {{{-0.09, -0.15, -0.04}, {-0.17, -0.30, -0.05}, {0.09, 0.00, 0.18}}}},
    {"local-lipschitz", {{{-0.20, -0.25, -0.15}, {-0.06, -0.17, 0.04}, {-0.40, -0.48, -0.32}}}},
    {"effective-complexity", {{{-0.22, -0.27, -0.16}, {0.05, -0.13, 0.22}, {-0.05, -0.15, 0.04}}}},
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
  return !found.empty() && std::ranges::all_of(found, [](const auto& one) { return one.low > 0; });
}

}  // namespace whyformer
