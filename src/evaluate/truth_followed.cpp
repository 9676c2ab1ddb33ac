// What benchmarks/which_metric found. docs/evaluation.md shows the same table.
#include <map>

#include "whyformer/evaluate.h"

namespace whyformer {
namespace {

using Table = std::map<std::string_view, std::vector<TruthFollowed>>;

const Table& table() {
  static const Table found{
      {"insertion",
       {{"sentences", 0.84, 0.81, 0.86},
        {"pictures", 0.48, 0.38, 0.57},
        {"table rows", 0.66, 0.61, 0.71}}},
      {"keep-positive",
       {{"sentences", 0.84, 0.82, 0.87},
        {"pictures", 0.48, 0.36, 0.58},
        {"table rows", 0.67, 0.60, 0.72}}},
      {"comprehensiveness",
       {{"sentences", 0.83, 0.80, 0.85},
        {"pictures", 0.47, 0.39, 0.55},
        {"table rows", 0.82, 0.77, 0.86}}},
      {"sensitivity-n",
       {{"sentences", 0.86, 0.84, 0.88},
        {"pictures", 0.44, 0.34, 0.52},
        {"table rows", 0.84, 0.80, 0.88}}},
      {"sufficiency",
       {{"sentences", 0.77, 0.73, 0.81},
        {"pictures", 0.45, 0.34, 0.55},
        {"table rows", 0.70, 0.66, 0.74}}},
      {"infidelity-scaled",
       {{"sentences", 0.89, 0.88, 0.90},
        {"pictures", 0.37, 0.28, 0.47},
        {"table rows", 0.65, 0.61, 0.70}}},
      {"deletion",
       {{"sentences", 0.80, 0.78, 0.82},
        {"pictures", 0.39, 0.30, 0.48},
        {"table rows", 0.78, 0.74, 0.83}}},
      {"faithfulness-correlation",
       {{"sentences", 0.90, 0.88, 0.91},
        {"pictures", 0.29, 0.16, 0.40},
        {"table rows", 0.84, 0.81, 0.88}}},
      {"faithfulness-estimate",
       {{"sentences", 0.89, 0.88, 0.91},
        {"pictures", 0.27, 0.16, 0.39},
        {"table rows", 0.84, 0.81, 0.88}}},
      {"positive-perturbation",
       {{"sentences", 0.75, 0.72, 0.78},
        {"pictures", 0.30, 0.20, 0.40},
        {"table rows", 0.58, 0.52, 0.64}}},
      {"negative-perturbation",
       {{"sentences", 0.60, 0.56, 0.64},
        {"pictures", 0.36, 0.24, 0.47},
        {"table rows", 0.69, 0.62, 0.75}}},
      {"monotonicity-correlation",
       {{"sentences", 0.53, 0.46, 0.60},
        {"pictures", 0.24, 0.16, 0.32},
        {"table rows", 0.65, 0.61, 0.69}}},
      {"infidelity",
       {{"sentences", 0.46, 0.43, 0.49},
        {"pictures", 0.19, 0.10, 0.29},
        {"table rows", 0.59, 0.54, 0.63}}},
      {"completeness",
       {{"sentences", 0.38, 0.34, 0.41},
        {"pictures", 0.07, -0.02, 0.16},
        {"table rows", 0.29, 0.22, 0.36}}},
      {"non-sensitivity",
       {{"sentences", 0.22, 0.16, 0.27},
        {"pictures", -0.06, -0.24, 0.10},
        {"table rows", 0.05, -0.04, 0.15}}},
      {"max-sensitivity",
       {{"sentences", -0.09, -0.15, -0.04},
        {"pictures", -0.17, -0.30, -0.05},
        {"table rows", 0.09, 0.00, 0.18}}},
      {"local-lipschitz",
       {{"sentences", -0.20, -0.25, -0.15},
        {"pictures", -0.06, -0.17, 0.04},
        {"table rows", -0.40, -0.48, -0.32}}},
      {"effective-complexity",
       {{"sentences", -0.22, -0.27, -0.16},
        {"pictures", 0.05, -0.13, 0.22},
        {"table rows", -0.05, -0.15, 0.04}}},
  };
  return found;
}

}  // namespace

std::span<const TruthFollowed> truth_followed(std::string_view metric) {
  const auto found = table().find(metric);
  return found == table().end() ? std::span<const TruthFollowed>() : found->second;
}

std::optional<double> mean_truth_followed(std::string_view metric) {
  const std::span<const TruthFollowed> found = truth_followed(metric);
  if (found.empty()) return std::nullopt;
  double sum = 0;
  for (const TruthFollowed& one : found) sum += one.correlation;
  return sum / static_cast<double>(found.size());
}

bool follows_truth(std::string_view metric) {
  const std::span<const TruthFollowed> found = truth_followed(metric);
  bool follows = !found.empty();
  for (const TruthFollowed& one : found) follows = follows && one.low > 0;
  return follows;
}

}  // namespace whyformer
