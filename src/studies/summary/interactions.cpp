#include "studies/summary/interactions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "studies/summary/column_values.h"

namespace whyformer {
namespace {

constexpr double kAlike = 1e-8;  // standard deviation of the difference of two columns' scores

// 0 where one of the two does not vary.
double size_of_correlation(std::span<const double> a, std::span<const double> b) {
  const auto count = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double both = 0, own = 0, other = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    own += (a[i] - mean_a) * (a[i] - mean_a);
    other += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (!(own > 0) || !(other > 0)) return 0;
  return std::min(1.0, std::abs(both) / std::sqrt(own * other));
}

double sum_over_windows(const std::vector<double>& scores, const std::vector<double>& other) {
  const size_t window = std::max<size_t>(1, std::min<size_t>(scores.size() / 10, 50));
  double sum = 0;
  for (size_t first = 0; first < scores.size(); first += window) {
    const size_t count = std::min(window, scores.size() - first);
    sum += size_of_correlation(std::span(scores).subspan(first, count),
                               std::span(other).subspan(first, count));
  }
  return sum;
}

bool same_scores(const ColumnValues& a, const ColumnValues& b) {
  double sum = 0, squares = 0, count = 0;
  for (size_t i = 0; i < a.scores.size(); ++i) {
    const double difference = a.scores[i] - b.scores[i];
    if (std::isnan(difference)) continue;
    sum += difference;
    squares += difference * difference;
    ++count;
  }
  return count == 0 ||
         std::sqrt(std::max(0.0, squares / count - sum * sum / count / count)) < kAlike;
}

// Inputs by the column's value; missing ones last.
std::vector<size_t> order_by(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return values[a] < values[b] || (std::isnan(values[b]) && !std::isnan(values[a]));
  });
  return order;
}

double strength_in(const std::vector<size_t>& order, const std::vector<double>& scores,
                   const std::vector<double>& other) {
  std::vector<double> own, there, missing;
  for (const size_t i : order) {
    own.push_back(scores[i]);
    there.push_back(other[i]);
    missing.push_back(std::isnan(other[i]) ? 1 : 0);
  }
  return std::max(sum_over_windows(own, there), sum_over_windows(own, missing));
}

}  // namespace

double interaction_strength(const std::vector<double>& values, const std::vector<double>& scores,
                            const std::vector<double>& other) {
  return strength_in(order_by(values), scores, other);
}

void find_interactions(Summary& summary) {
  const std::vector<const SummaryRow*> columns = columns_of(summary);
  std::vector<ColumnValues> values;
  for (const SummaryRow* row : columns) values.push_back(values_of(*row, summary.instances));
  std::vector<std::string> found(columns.size());
  for (size_t own = 0; own < columns.size(); ++own) {
    const std::vector<size_t> order = order_by(values[own].numbers);
    double strongest = 0;
    for (size_t other = 0; other < columns.size(); ++other) {
      if (other == own || same_scores(values[own], values[other])) continue;
      const double strength = strength_in(order, values[own].scores, values[other].numbers);
      if (strength <= strongest) continue;
      strongest = strength;
      found[own] = columns[other]->name;
    }
  }
  for (std::vector<SummaryRow>* rows : {&summary.rows, &summary.summed}) {
    for (SummaryRow& row : *rows) {
      const auto column = std::ranges::find(columns, &row);
      if (column != columns.end()) row.interacts_with = found[column - columns.begin()];
    }
  }
}

}  // namespace whyformer
