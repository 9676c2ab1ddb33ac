#include "report/views/dependence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "studies/summary/column_values.h"
#include "whyformer/error.h"

namespace whyformer::report {
namespace {

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
  const auto other = std::ranges::find(columns, (*found)->interacts_with, &SummaryRow::name);
  if (!(*found)->interacts_with.empty() && other != columns.end())
    colour_by(result, **other, values_of(**other, summary.instances));
  std::erase_if(result.points, [](const DependencePoint& one) { return std::isnan(one.score); });
  return result;
}

}  // namespace whyformer::report
