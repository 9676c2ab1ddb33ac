// Evaluations and agreement of methods for a terminal: a table for each metric, and what the tests
// say.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal/terminal_writer.h"
#include "report/views/agreement_view.h"
#include "report/views/evaluation_view.h"
#include "report/views/model_title.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr int kWidestName = 26;
constexpr int kValueWidth = 26;
constexpr int kAgreementWidth = 19;

// A row for each method with its mean, interval, rank and the reversed ranking's mean.
void metric_table(const Evaluation& evaluation, size_t column, TerminalWriter& out) {
  const EvaluationColumn& info = evaluation.columns[column];
  out.line("");
  out.line(out.style().bold(column_title(evaluation, column)));
  out.faint_sentence(info.summary + ".");
  double scale = 0;
  for (const auto& row : evaluation.cells) {
    if (row[column].mean) scale = std::max(scale, std::abs(*row[column].mean));
  }
  const int bar_width = std::clamp(out.width() - kWidestName - kValueWidth - 22, 4, 30);
  for (size_t method = 0; method < evaluation.methods.size(); ++method) {
    const EvaluationCell& cell = evaluation.cells[method][column];
    const std::string rank = cell.rank ? fmt::format("{}.", *cell.rank) : "";
    const double strength = cell.mean && scale > 0 ? *cell.mean / scale : 0;
    const std::string reversed = cell.reversed && evaluation.methods[method] != kRandomBaseline
                                     ? fmt::format("reversed {:.3g}", *cell.reversed)
                                     : "";
    out.line(
        "  " + right_aligned(rank, 3) + " " +
        left_aligned(shortened(printable(evaluation.methods[method]), kWidestName), kWidestName) +
        " " + left_aligned(cell_words(cell), kValueWidth - 1) + " " +
        out.style().bar(strength, bar_width, ScoreKind::kSigned) + " " +
        out.style().faint(reversed));
  }
  const std::string tests = test_words(evaluation, column);
  if (!tests.empty()) out.faint_sentence(tests);
  out.faint_sentence("Misleads: " + info.misleads + ".");
}

// A row for each method with its value at each x; of many points those that fit.
void curve_table(const Evaluation& evaluation, const EvaluationCurve& curve, TerminalWriter& out) {
  constexpr size_t kPointWidth = 6;
  out.line("");
  out.line(out.style().bold(curve.name));
  const size_t room = std::max<size_t>(2, (out.width() - kWidestName - 2) / kPointWidth);
  const size_t step = (curve.columns.size() + room - 1) / room;
  std::string head = "  " + left_aligned("", kWidestName);
  for (size_t i = 0; i < curve.columns.size(); i += step) {
    const double x = evaluation.columns[curve.columns[i]].point->x;
    head += right_aligned(fmt::format("{:g}", x), kPointWidth);
  }
  out.line(out.style().faint(head));
  for (size_t method = 0; method < evaluation.methods.size(); ++method) {
    std::string row =
        "  " +
        left_aligned(shortened(printable(evaluation.methods[method]), kWidestName), kWidestName);
    for (size_t i = 0; i < curve.columns.size(); i += step) {
      const std::optional<double>& mean = evaluation.cells[method][curve.columns[i]].mean;
      row += right_aligned(mean ? fmt::format("{:.3g}", *mean) : "–", kPointWidth);
    }
    out.line(row);
  }
}

void cost_table(const Evaluation& evaluation, TerminalWriter& out) {
  out.line("");
  out.line(out.style().bold("cost"));
  out.faint_sentence(
      "Of the explanations, over all inputs; runs that methods share are told once.");
  for (size_t method = 0; method < evaluation.methods.size(); ++method) {
    if (evaluation.methods[method] == kRandomBaseline) continue;
    const Cost& cost = evaluation.costs[method];
    out.line(
        "      " +
        left_aligned(shortened(printable(evaluation.methods[method]), kWidestName), kWidestName) +
        fmt::format(" {} forwards, {} backwards, {:.2g} s", cost.forwards, cost.backwards,
                    cost.seconds));
  }
}

void measure_table(const AgreementReport& report, size_t measure, TerminalWriter& out) {
  out.line("");
  out.line(out.style().bold(kAgreementMeasures[measure]));
  const auto name_of = [&](size_t method) {
    return shortened(printable(report.methods[method]), kWidestName);
  };
  for (size_t a = 0; a < report.methods.size(); ++a) {
    for (size_t b = a + 1; b < report.methods.size(); ++b) {
      const AgreementCell& cell = report.pairs[a][b][measure];
      out.line("  " + left_aligned(name_of(a), kWidestName) + " " +
               left_aligned(name_of(b), kWidestName) + " " +
               left_aligned(agreement_words(cell), kAgreementWidth) + " " +
               out.style().faint(agreement_extent(cell)));
    }
  }
  for (size_t a = 0; a < report.methods.size(); ++a) {
    const AgreementCell& cell = report.ceiling[a][measure];
    if (!cell.mean || *cell.mean == 1) continue;  // draws nothing
    out.line(out.style().faint("  " + left_aligned(name_of(a), kWidestName) + " " +
                               left_aligned("another seed (ceiling)", kWidestName) + " " +
                               agreement_words(cell)));
  }
  out.line(out.style().faint("  " + left_aligned("units relabelled (floor)", 2 * kWidestName + 1) +
                             " " + agreement_words(report.floor[measure])));
  if (report.chance_of_top_k && kAgreementMeasures[measure] == std::string_view("top-k")) {
    out.line(out.style().faint("  " + left_aligned("chance, k / units", 2 * kWidestName + 1) + " " +
                               fmt::format("{:.2f}", *report.chance_of_top_k)));
  }
}

void report_table(const ReportTable& table, TerminalWriter& out) {
  out.line("");
  out.line(out.style().bold(table.title));
  for (const std::string& line : terminal_lines(table, out.width())) out.line(line);
  out.faint_sentence(table.explained);
}

}  // namespace
}  // namespace report

std::string to_terminal(const Evaluation& evaluation, const TerminalOptions& options) {
  using namespace report;
  TerminalWriter out(options);
  out.line(out.style().bold(shortened(printable(evaluation_title(evaluation)), out.width())));
  out.faint_sentence(evaluation_facts(evaluation));
  for (const size_t column : columns_with_values(evaluation)) {
    metric_table(evaluation, column, out);
  }
  for (const EvaluationCurve& curve : curves_with_values(evaluation)) {
    curve_table(evaluation, curve, out);
  }
  const std::vector<MeanRank> ranks = mean_ranks(evaluation);
  if (evaluation.columns.size() > 1 && ranks.size() > 1) {
    out.line("");
    out.line(out.style().bold("Mean rank over all metrics"));
    for (const MeanRank& one : ranks) {
      out.line(fmt::format("  {:>5.2f} {}", one.rank, printable(evaluation.methods[one.method])));
    }
  }
  cost_table(evaluation, out);
  if (!evaluation.notes.empty()) out.line("");
  for (const std::string& note : evaluation.notes) out.faint_sentence(printable(note));
  return out.finish();
}

std::string to_terminal(const AgreementReport& found, const TerminalOptions& options) {
  using namespace report;
  TerminalWriter out(options);
  out.line(out.style().bold(
      shortened("Agreement of methods on " + printable(found.model.name), out.width())));
  out.faint_sentence(agreement_facts(found));
  for (size_t measure = 0; measure < kAgreementMeasureCount; ++measure) {
    measure_table(found, measure, out);
  }
  for (const ReportTable& table : column_tables(found)) report_table(table, out);
  if (!found.notes.empty()) out.line("");
  for (const std::string& note : found.notes) out.faint_sentence(printable(note));
  return out.finish();
}

std::string to_terminal(const AgreementOverModels& found, const TerminalOptions& options) {
  using namespace report;
  TerminalWriter out(options);
  out.line(out.style().bold(fmt::format("Agreement of methods on {} models", found.models.size())));
  for (const ReportTable& table : model_tables(found)) report_table(table, out);
  for (const AgreementReport& one : found.models) {
    for (const std::string& note : one.notes)
      out.faint_sentence(printable(one.model.name + ": " + note));
  }
  return out.finish();
}

}  // namespace whyformer
