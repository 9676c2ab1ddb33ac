#include "report/views/evaluation_view.h"
#include "whyformer/printable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace whyformer::report {
namespace {

constexpr double kLevel = 0.05;

bool has_several_hidings(const Evaluation& evaluation) {
  std::string first;
  for (const EvaluationColumn& column : evaluation.columns) {
    if (column.hiding.empty()) continue;
    if (first.empty()) first = column.hiding;
    if (column.hiding != first) return true;
  }
  return false;
}

bool has_values(const Evaluation& evaluation, size_t column) {
  return std::ranges::any_of(evaluation.cells,
                             [&](const auto& row) { return row[column].mean.has_value(); });
}

}  // namespace

std::vector<size_t> columns_with_values(const Evaluation& evaluation) {
  std::vector<size_t> columns;
  for (size_t column = 0; column < evaluation.columns.size(); ++column) {
    if (!evaluation.columns[column].point && has_values(evaluation, column)) {
      columns.push_back(column);
    }
  }
  return columns;
}

std::vector<EvaluationCurve> curves_with_values(const Evaluation& evaluation) {
  std::vector<EvaluationCurve> curves;
  for (size_t column = 0; column < evaluation.columns.size(); ++column) {
    const std::optional<CurvePoint>& point = evaluation.columns[column].point;
    if (!point || !has_values(evaluation, column)) continue;
    if (curves.empty() || curves.back().name != point->curve) curves.push_back({point->curve, {}});
    curves.back().columns.push_back(column);
  }
  return curves;
}

std::string evaluation_title(const Evaluation& evaluation) {
  const std::string methods = "Methods on " + evaluation.model.name;
  return evaluation.protocol.empty() ? methods : methods + " · " + evaluation.protocol;
}

std::string column_title(const Evaluation& evaluation, size_t column) {
  const EvaluationColumn& own = evaluation.columns[column];
  const bool names_hiding = has_several_hidings(evaluation) && !own.hiding.empty();
  return fmt::format("{}{} {}", own.metric, names_hiding ? " (" + own.hiding + ")" : "",
                     own.higher_is_better ? "↑" : "↓");
}

std::string cell_words(const EvaluationCell& cell) {
  if (!cell.mean) return "–";
  if (!cell.interval) return fmt::format("{:.3g}", *cell.mean);
  return fmt::format("{:.3g} [{:.2g}, {:.2g}]", *cell.mean, cell.interval->low,
                     cell.interval->high);
}

std::string evaluation_facts(const Evaluation& evaluation) {
  int64_t measured = 0, evaluations = 0;
  double seconds = 0;
  for (const EvaluatedInput& input : evaluation.inputs) {
    measured += input.problem.empty() ? 1 : 0;
    evaluations += input.evaluations;
    seconds += input.seconds;
  }
  return fmt::format(
      "{} · {} with hidden units · {:.1f} s · mean and 95 % bootstrap interval over "
      "inputs",
      quantity(measured, "input"), quantity(evaluations, "input"), seconds);
}

std::vector<MeanRank> mean_ranks(const Evaluation& evaluation) {
  std::vector<MeanRank> ranks;
  for (size_t method = 0; method < evaluation.methods.size(); ++method) {
    double sum = 0, count = 0;
    for (const EvaluationCell& cell : evaluation.cells[method]) {
      if (!cell.rank) continue;
      sum += static_cast<double>(*cell.rank);
      count += 1;
    }
    if (count > 0) ranks.push_back({method, sum / count});
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const MeanRank& a, const MeanRank& b) { return a.rank < b.rank; });
  return ranks;
}

std::string test_words(const Evaluation& evaluation, size_t column) {
  std::string best;
  // ahead: better on the inputs that both have; apart: there are none
  std::vector<std::string> alike, ahead, apart;
  const bool higher = evaluation.columns[column].higher_is_better;
  for (const EvaluationTest& test : evaluation.tests) {
    if (test.column != column) continue;
    best = test.best;
    if (!test.difference) {
      apart.push_back(test.other);
    } else if (!test.p_value || *test.p_value > kLevel) {
      alike.push_back(test.other);
    } else if (higher ? *test.difference < 0 : *test.difference > 0) {
      ahead.push_back(test.other);
    }
  }
  if (best.empty()) return "";
  const std::string title = column_title(evaluation, column);
  if (alike.empty() && ahead.empty() && apart.empty()) {
    return fmt::format("{}: {} is better than all others.", title, best);
  }
  std::string words = fmt::format("{}: {} is best", title, best);
  if (!alike.empty()) words += fmt::format(", not told apart from {}", fmt::join(alike, ", "));
  if (!ahead.empty()) {
    words +=
        fmt::format(", but worse than {} on the inputs that both have", fmt::join(ahead, ", "));
  }
  if (!apart.empty()) {
    words +=
        fmt::format(", not compared with {} for want of common inputs", fmt::join(apart, ", "));
  }
  return words + ".";
}

std::string agreement_facts(const AgreementReport& report) {
  return quantity(report.inputs, "input") + " · mean over inputs, 95 % bootstrap interval";
}

std::string agreement_words(const AgreementCell& cell) {
  if (!cell.mean) return "–";
  if (!cell.interval) return fmt::format("{:.2f}", *cell.mean);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", *cell.mean, cell.interval->low,
                     cell.interval->high);
}

}  // namespace whyformer::report
