#include "whyformer/compared_importances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "evaluate/bootstrap.h"
#include "evaluate/ranks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Equal values share the mean of their ranks.
void add_ranks(std::vector<RankedImportance>& columns) {
  std::vector<RankedImportance*> ranked;
  std::vector<double> negated;  // ranks are from 1 for the lowest
  for (RankedImportance& one : columns) {
    if (!one.value || std::isnan(*one.value)) continue;
    ranked.push_back(&one);
    negated.push_back(-*one.value);
  }
  const std::vector<double> ranks = average_ranks(negated);
  for (size_t i = 0; i < ranks.size(); ++i) ranked[i]->rank = ranks[i];
}

// |scores| of one row by column, in the order of its units.
struct ColumnScores {
  std::vector<std::string> names;
  std::vector<double> magnitudes;
};

ColumnScores scores_of(const Explanation& row, const std::string& method) {
  const auto found = std::ranges::find_if(
      row.attributions, [&](const Attribution& one) { return one.method == method; });
  if (found == row.attributions.end())
    throw InvalidInput(fmt::format("importances: a row has no scores by '{}'", method));
  ColumnScores scores;
  for (size_t unit = 0; unit < row.units.size(); ++unit) {
    if (row.units[unit].special) continue;
    if (row.units[unit].column.empty())
      throw InvalidInput("importances: columns are compared, and these inputs have none");
    scores.names.push_back(row.units[unit].column);
    scores.magnitudes.push_back(std::abs(found->scores[unit]));
  }
  return scores;
}

RankedImportance mean_of(const std::vector<double>& magnitudes, int64_t seed) {
  RankedImportance found;
  if (magnitudes.empty()) return found;
  found.value = std::accumulate(magnitudes.begin(), magnitudes.end(), 0.0) /
                static_cast<double>(magnitudes.size());
  if (const std::optional<Interval> interval = mean_interval(magnitudes, {.seed = seed})) {
    found.low = interval->low;
    found.high = interval->high;
  }
  return found;
}

double mean_rank(const std::vector<ImportanceSide>& sides, size_t column) {
  double sum = 0;
  int64_t count = 0;
  for (const ImportanceSide& side : sides) {
    if (!side.columns[column].rank) continue;
    sum += *side.columns[column].rank;
    ++count;
  }
  return count == 0 ? static_cast<double>(sides[0].columns.size())
                    : sum / static_cast<double>(count);
}

// The side's columns in the order of `names`.
void reorder(ImportanceSide& side, const std::vector<std::string>& names) {
  std::vector<RankedImportance> columns;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(side.names, name);
    if (found == side.names.end() || side.names.size() != names.size()) {
      throw InvalidInput(
          fmt::format("importances: '{}' has other columns than the others", side.method));
    }
    columns.push_back(side.columns[found - side.names.begin()]);
  }
  side.names = names;
  side.columns = std::move(columns);
}

}  // namespace

ImportanceSide importance_side(std::span<const Explanation> rows, const std::string& method,
                               int64_t seed) {
  if (rows.empty()) throw InvalidInput("importances: there is no row");
  ImportanceSide side{.method = method, .what = "mean |score|", .names = {}, .columns = {}};
  side.names = scores_of(rows[0], method).names;
  std::vector<std::vector<double>> magnitudes(side.names.size());
  for (const Explanation& row : rows) {
    const ColumnScores scores = scores_of(row, method);
    if (scores.names != side.names)
      throw InvalidInput("importances: not all rows have the same columns");
    for (size_t column = 0; column < magnitudes.size(); ++column) {
      if (!std::isnan(scores.magnitudes[column]))
        magnitudes[column].push_back(scores.magnitudes[column]);
    }
  }
  for (const std::vector<double>& own : magnitudes) side.columns.push_back(mean_of(own, seed));
  add_ranks(side.columns);
  return side;
}

ImportanceSide importance_side(const ImportanceReport& report) {
  constexpr double kNormal95 = 1.959963984540054;
  const bool saves = report.method == "sage";
  // A loss rises where a score falls.
  const bool is_loss = report.score == "cross-entropy" || report.score == "squared-error";
  ImportanceSide side{
      .method = report.method,
      .what =
          fmt::format("{} {}", saves ? "saved" : (is_loss ? "rise of" : "fall of"), report.score),
      .names = {},
      .columns = {}};
  for (const ColumnImportance& column : report.columns) {
    side.names.push_back(column.name);
    RankedImportance found{.value = column.value};
    if (std::isfinite(column.error)) {
      found.low = column.value - kNormal95 * column.error;
      found.high = column.value + kNormal95 * column.error;
    }
    side.columns.push_back(found);
  }
  add_ranks(side.columns);
  return side;
}

ComparedImportances compare_importances(std::vector<ImportanceSide> sides) {
  if (sides.empty()) throw InvalidInput("importances: there is nothing to compare");
  ComparedImportances found;
  found.columns = sides[0].names;
  for (ImportanceSide& side : sides) reorder(side, found.columns);
  std::vector<size_t> order(found.columns.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(
      order, [&](size_t a, size_t b) { return mean_rank(sides, a) < mean_rank(sides, b); });
  std::vector<std::string> names;
  for (const size_t column : order) names.push_back(found.columns[column]);
  found.columns = names;
  for (ImportanceSide& side : sides) reorder(side, names);
  found.sides = std::move(sides);
  return found;
}

}  // namespace whyformer
