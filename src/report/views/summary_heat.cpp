#include "report/views/summary_heat.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/views/seriation.h"

namespace whyformer::report {
namespace {

// A word that stands twice in a text has the sum of its scores.
std::vector<double> scores_of(const SummaryRow& row, int64_t instances) {
  std::vector<double> scores(static_cast<size_t>(instances),
                             std::numeric_limits<double>::quiet_NaN());
  for (const SummaryPoint& point : row.points) {
    double& score = scores[static_cast<size_t>(point.instance)];
    score = point.score + (std::isnan(score) ? 0 : score);
  }
  return scores;
}

double full_colour(const SummaryHeat& heat) {
  std::vector<double> sizes;
  for (const std::vector<double>& row : heat.cells) {
    for (const double score : row) {
      if (!std::isnan(score)) sizes.push_back(std::abs(score));
    }
  }
  if (sizes.empty()) return 0;
  std::sort(sizes.begin(), sizes.end());
  const double most = sizes[(sizes.size() - 1) * 99 / 100];
  return most > 0 ? most : sizes.back();
}

}  // namespace

SummaryHeat summary_heat(const Summary& summary) {
  std::vector<std::vector<double>> by_row;
  for (const SummaryRow& row : summary.rows) by_row.push_back(scores_of(row, summary.instances));
  const auto count = static_cast<size_t>(summary.instances);
  const size_t step = std::max<size_t>(1, (count + kMostHeatInputs - 1) / kMostHeatInputs);
  std::vector<int64_t> taken;
  std::vector<std::vector<double>> inputs;
  for (size_t i = 0; i < count; i += step) {
    taken.push_back(static_cast<int64_t>(i));
    inputs.emplace_back();
    for (const std::vector<double>& row : by_row) inputs.back().push_back(row[i]);
  }
  SummaryHeat heat{.cells = std::vector<std::vector<double>>(by_row.size())};
  for (const size_t place : similarity_order(inputs)) {
    heat.instances.push_back(taken[place]);
    heat.sums.push_back(0);
    for (size_t row = 0; row < by_row.size(); ++row) {
      const double score = inputs[place][row];
      heat.cells[row].push_back(score);
      if (!std::isnan(score)) heat.sums.back() += score;
    }
  }
  heat.scale = full_colour(heat);
  return heat;
}

}  // namespace whyformer::report
