#include "report/views/dependence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <span>

#include "whyformer/error.h"

namespace whyformer::report {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kAlike = 1e-8;  // standard deviation of the difference of two columns' scores

// A column by inputs; categories are numbered in the order of their words.
struct ColumnValues {
  bool category = false;
  std::vector<std::string> words = {};
  std::vector<double> numbers = {};  // not a number where a cell is missing
  std::vector<double> scores = {};   // likewise where there is no score
};

ColumnValues values_of(const SummaryRow& row, int64_t instances) {
  const auto count = static_cast<size_t>(instances);
  ColumnValues column{.numbers = std::vector<double>(count, kNaN),
                      .scores = std::vector<double>(count, kNaN)};
  std::set<std::string> words;
  for (const SummaryPoint& point : row.points) {
    if (point.category && !point.missing) words.insert(point.cell);
    column.category |= point.category;
  }
  column.words.assign(words.begin(), words.end());
  for (const SummaryPoint& point : row.points) {
    const auto place = static_cast<size_t>(point.instance);
    column.scores[place] = point.score;
    if (point.missing) continue;
    if (column.category) {
      const auto word = std::ranges::lower_bound(column.words, point.cell);
      column.numbers[place] = static_cast<double>(word - column.words.begin());
    } else {
      column.numbers[place] = point.value.value_or(kNaN);
    }
  }
  return column;
}

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

AxisRange range_of(const std::vector<double>& numbers) {
  AxisRange range{HUGE_VAL, -HUGE_VAL};
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    range = {std::min(range.low, number), std::max(range.high, number)};
  }
  if (range.low > range.high) return {-1, 1};
  const double spare = range.high > range.low ? 0.04 * (range.high - range.low) : 1;
  return {range.low - spare, range.high + spare};
}

// Categories from the lowest mean score to the highest: the new place of each.
std::vector<double> sort_words(Dependence& dependence, const ColumnValues& own) {
  std::vector<double> sums(own.words.size(), 0), counts(own.words.size(), 0);
  for (size_t i = 0; i < own.numbers.size(); ++i) {
    if (std::isnan(own.numbers[i]) || std::isnan(own.scores[i])) continue;
    sums[static_cast<size_t>(own.numbers[i])] += own.scores[i];
    ++counts[static_cast<size_t>(own.numbers[i])];
  }
  std::vector<size_t> order(own.words.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t word) { return sums[word] / counts[word]; });
  std::vector<double> places(order.size());
  for (size_t place = 0; place < order.size(); ++place) {
    places[order[place]] = static_cast<double>(place);
    dependence.words.push_back(own.words[order[place]]);
  }
  dependence.x = {-0.5, static_cast<double>(order.size()) - 0.5};
  return places;
}

// The points are those of the inputs, one for each.
void colour_by(Dependence& dependence, const SummaryRow& row, const ColumnValues& other) {
  dependence.coloured_by = row.name;
  dependence.shades = other.words;
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (const double number : other.numbers) {
    if (std::isnan(number)) continue;
    least = std::min(least, number);
    most = std::max(most, number);
  }
  if (!other.category) {
    dependence.low = fmt::format("{:.4g}", least);
    dependence.high = fmt::format("{:.4g}", most);
  }
  for (size_t i = 0; i < dependence.points.size(); ++i) {
    const double number = other.numbers[i];
    if (std::isnan(number)) continue;
    dependence.points[i].level = most > least ? (number - least) / (most - least) : 0.5;
  }
}

}  // namespace

std::vector<const SummaryRow*> columns_of(const Summary& summary) {
  std::vector<const SummaryRow*> columns;
  const size_t alone = summary.rows.size() - (summary.others > 0 ? 1 : 0);
  const auto add = [&](const SummaryRow& row) {
    const bool of_table = std::ranges::any_of(row.points, [](const SummaryPoint& point) {
      return point.value || point.category || point.missing;
    });
    if (of_table) columns.push_back(&row);
  };
  for (size_t i = 0; i < alone; ++i) add(summary.rows[i]);
  for (const SummaryRow& row : summary.summed) add(row);
  return columns;
}

double interaction_strength(const std::vector<double>& values, const std::vector<double>& scores,
                            const std::vector<double>& other) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return values[a] < values[b] || (std::isnan(values[b]) && !std::isnan(values[a]));
  });
  std::vector<double> own, there, missing;
  for (const size_t i : order) {
    own.push_back(scores[i]);
    there.push_back(other[i]);
    missing.push_back(std::isnan(other[i]) ? 1 : 0);
  }
  return std::max(sum_over_windows(own, there), sum_over_windows(own, missing));
}

Dependence dependence_of(const Summary& summary, const std::string& column) {
  const std::vector<const SummaryRow*> columns = columns_of(summary);
  if (columns.empty()) {
    throw InvalidInput("dependence: only columns of a table have values that scores can follow");
  }
  const auto found =
      column.empty() ? columns.begin() : std::ranges::find(columns, column, &SummaryRow::name);
  if (found == columns.end())
    throw InvalidInput(fmt::format("dependence: the summary has no column '{}'", column));
  const ColumnValues own = values_of(**found, summary.instances);
  Dependence result{.column = (*found)->name};
  const std::vector<double> places = own.category ? sort_words(result, own) : std::vector<double>();
  if (!own.category) result.x = range_of(own.numbers);
  result.y = range_of(own.scores);
  for (size_t i = 0; i < own.scores.size(); ++i) {
    const bool missing = std::isnan(own.numbers[i]);
    const double x =
        own.category && !missing ? places[static_cast<size_t>(own.numbers[i])] : own.numbers[i];
    result.points.push_back({.x = x, .score = own.scores[i]});
    if (missing && !std::isnan(own.scores[i])) ++result.missing;
  }
  double strongest = 0;
  const SummaryRow* strongest_column = nullptr;
  for (const SummaryRow* row : columns) {
    const ColumnValues other = values_of(*row, summary.instances);
    if (row == *found || same_scores(own, other)) continue;
    const double strength = interaction_strength(own.numbers, own.scores, other.numbers);
    if (strength <= strongest) continue;
    strongest = strength;
    strongest_column = row;
  }
  if (strongest_column != nullptr)
    colour_by(result, *strongest_column, values_of(*strongest_column, summary.instances));
  std::erase_if(result.points, [](const DependencePoint& one) { return std::isnan(one.score); });
  return result;
}

}  // namespace whyformer::report
