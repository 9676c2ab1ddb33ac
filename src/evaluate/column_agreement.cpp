#include "evaluate/column_agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "evaluate/bootstrap.h"

namespace whyformer {
namespace {

using Rows = std::vector<const std::vector<double>*>;  // scores of the inputs, [input][column]

std::vector<double> mean_magnitudes(const Rows& rows, std::span<const int64_t> chosen) {
  const size_t columns = rows[0]->size();
  std::vector<double> sums(columns, 0.0), counts(columns, 0.0);
  for (const int64_t input : chosen) {
    const std::vector<double>& scores = *rows[static_cast<size_t>(input)];
    for (size_t column = 0; column < columns; ++column) {
      if (std::isnan(scores[column])) continue;
      sums[column] += std::abs(scores[column]);
      ++counts[column];
    }
  }
  for (size_t column = 0; column < columns; ++column) {
    sums[column] = counts[column] > 0 ? sums[column] / counts[column]
                                      : std::numeric_limits<double>::quiet_NaN();
  }
  return sums;
}

// Both sides as they are, means and all: their magnitudes are what is compared.
AgreementCells between_means(const Rows& a, const Rows& b, const AgreementRequest& request) {
  AgreementCells cells;
  const auto count = static_cast<int64_t>(a.size());
  const auto values_of = [&](std::span<const int64_t> chosen) {
    return agreement_of(mean_magnitudes(a, chosen), mean_magnitudes(b, chosen), {.both = false},
                        request);
  };
  std::vector<int64_t> all(a.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  const AgreementValues values = values_of(all);
  for (size_t measure = 0; measure < cells.size(); ++measure) {
    cells[measure].mean = values[measure];
    cells[measure].inputs = count;
    if (!values[measure]) continue;
    cells[measure].interval = bootstrap_interval(
        count, [&](std::span<const int64_t> chosen) { return values_of(chosen)[measure]; },
        {.seed = request.explain.seed});
  }
  return cells;
}

std::optional<double> over_inputs(const Rows& a, const Rows& b, size_t column,
                                  const AgreementRequest& request) {
  std::vector<double> left, right;
  for (size_t input = 0; input < a.size(); ++input) {
    const double x = (*a[input])[column], y = (*b[input])[column];
    if (std::isnan(x) || std::isnan(y)) continue;
    left.push_back(request.magnitudes ? std::abs(x) : x);
    right.push_back(request.magnitudes ? std::abs(y) : y);
  }
  const std::optional<Correlation> found = spearman(left, right);
  return found ? std::optional(found->value) : std::nullopt;
}

// Scores of both methods, for the inputs that both explain.
std::pair<Rows, Rows> rows_of(const std::vector<AgreementInput>& inputs, const std::string& a,
                              const std::string& b) {
  std::pair<Rows, Rows> rows;
  for (const AgreementInput& input : inputs) {
    const auto first = std::ranges::find(input.methods, a),
               second = std::ranges::find(input.methods, b);
    if (first == input.methods.end() || second == input.methods.end()) continue;
    rows.first.push_back(&input.scores[first - input.methods.begin()]);
    rows.second.push_back(&input.scores[second - input.methods.begin()]);
  }
  return rows;
}

ColumnAgreement column_agreement(const Rows& a, const Rows& b, const AgreementRequest& request) {
  ColumnAgreement found;
  if (a.empty()) return found;
  found.means = between_means(a, b, request);
  for (size_t column = 0; column < a[0]->size(); ++column) {
    found.each.push_back(over_inputs(a, b, column, request));
  }
  return found;
}

}  // namespace

void add_column_agreement(const std::vector<AgreementInput>& inputs,
                          const AgreementRequest& request, AgreementReport& report) {
  std::vector<std::string> columns;
  for (const AgreementInput& input : inputs) {
    if (!input.problem.empty()) continue;
    if (input.columns.empty() || (!columns.empty() && input.columns != columns)) return;
    columns = input.columns;
  }
  if (columns.empty()) return;
  report.columns = columns;
  const size_t count = report.methods.size();
  report.by_column.assign(count, std::vector<ColumnAgreement>(count));
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a; b < count; ++b) {
      const auto [left, right] = rows_of(inputs, report.methods[a], report.methods[b]);
      report.by_column[a][b] = report.by_column[b][a] = column_agreement(left, right, request);
    }
  }
}

std::optional<double> sample_deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / static_cast<double>(values.size());
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace whyformer
