// Evaluations and agreement as pages without a script: the plot, and every number in tables.
#include <fmt/format.h>

#include "report/pages/still_page.h"
#include "report/views/evaluation_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr const char* kStyle = R"(
header { margin-bottom: 18px; }
.plot { background: #fff; padding: 4px; max-width: 100%; overflow-x: auto; }
.plot svg { display: block; max-width: 100%; height: auto; }
.table-frame { margin-top: 8px; max-width: 100%; overflow-x: auto; }
th:first-child, td:first-child { text-align: left; }
td, th { text-align: right; white-space: nowrap; padding: 3px 8px; }
.strong { font-weight: 600; }
)";

std::string cell(const std::string& text, bool strong = false) {
  return fmt::format("<td class=\"number{}\">{}</td>", strong ? " strong" : "",
                     escape_markup(text));
}

std::string heading(const std::string& text) { return "<th>" + escape_markup(text) + "</th>"; }

std::string table(const std::string& head, const std::string& rows) {
  return "<div class=\"table-frame\"><table><thead><tr>" + head + "</tr></thead><tbody>\n" + rows +
         "</tbody></table></div>\n";
}

std::string faint(const std::string& text) {
  return "<p class=\"faint\">" + escape_markup(printable(text)) + "</p>\n";
}

std::string means_table(const Evaluation& evaluation) {
  std::string head = heading("method"), rows;
  const std::vector<size_t> columns = columns_with_values(evaluation);
  for (const size_t column : columns) head += heading(column_title(evaluation, column));
  head += heading("seconds");
  for (size_t method = 0; method < evaluation.methods.size(); ++method) {
    rows += "<tr><td>" + escape_markup(printable(evaluation.methods[method])) + "</td>";
    for (const size_t column : columns) {
      const EvaluationCell& one = evaluation.cells[method][column];
      rows += cell(cell_words(one), one.rank && *one.rank == 1);
    }
    rows += cell(fmt::format("{:.2f}", evaluation.costs[method].seconds)) + "</tr>\n";
  }
  return table(head, rows);
}

std::string tests_table(const Evaluation& evaluation) {
  const std::string head = heading("metric") + heading("best") + heading("against") +
                           heading("difference") + heading("p, corrected") + heading("inputs");
  std::string rows;
  for (const EvaluationTest& test : evaluation.tests) {
    rows += "<tr><td>" + escape_markup(column_title(evaluation, test.column)) + "</td>" +
            cell(test.best) + cell(test.other) + cell(fmt::format("{:+.3g}", test.difference)) +
            cell(test.p_value ? fmt::format("{:.2g}", *test.p_value) : "–",
                 test.p_value && *test.p_value <= 0.05) +
            cell(fmt::format("{}", test.inputs)) + "</tr>\n";
  }
  return table(head, rows);
}

std::string explained_metrics(const Evaluation& evaluation) {
  std::string items;
  for (const size_t column : columns_with_values(evaluation)) {
    const MetricInfo& info = metric_named(evaluation.columns[column].metric);
    items += fmt::format("<li><strong>{}</strong>: {} ({}). Misleads: {}.</li>\n",
                         escape_markup(info.name), escape_markup(info.summary),
                         escape_markup(info.paper), escape_markup(info.misleads));
  }
  return "<h2>What the numbers mean</h2>\n<ul>\n" + items + "</ul>\n";
}

std::string measure_table(const AgreementReport& found, size_t measure) {
  std::string head = heading(kAgreementMeasures[measure]), rows;
  for (const std::string& method : found.methods) head += heading(printable(method));
  for (size_t a = 0; a < found.methods.size(); ++a) {
    rows += "<tr><td>" + escape_markup(printable(found.methods[a])) + "</td>";
    for (size_t b = 0; b < found.methods.size(); ++b) {
      rows +=
          cell(agreement_words(a == b ? found.ceiling[a][measure] : found.pairs[a][b][measure]));
    }
    rows += "</tr>\n";
  }
  return table(head, rows) + faint("Units relabelled: " + agreement_words(found.floor[measure]));
}

}  // namespace
}  // namespace report

std::string to_html(const Evaluation& evaluation) {
  using namespace report;
  std::string main = "<div class=\"card plot\">" +
                     evaluation_picture(evaluation, PictureFormat::kSvg) + "</div>\n" +
                     "<h2>Means and intervals</h2>\n" + means_table(evaluation) +
                     "<h2>The best against the others</h2>\n" + tests_table(evaluation) +
                     faint(
                         "Wilcoxon's signed-rank test over inputs, p-values corrected by Holm for "
                         "each metric.") +
                     explained_metrics(evaluation);
  for (const std::string& note : evaluation.notes) main += faint(note);
  return still_page({.title = "Methods on " + evaluation.model.name,
                     .facts = evaluation_facts(evaluation),
                     .style = kStyle},
                    main);
}

std::string to_html(const AgreementReport& found) {
  using namespace report;
  std::string main =
      "<div class=\"card plot\">" + agreement_picture(found, PictureFormat::kSvg) + "</div>\n";
  for (size_t measure = 0; measure < kAgreementMeasureCount; ++measure) {
    main += measure_table(found, measure);
  }
  main +=
      faint("Diagonal: the same method with another seed, which is as far as methods can agree.");
  for (const std::string& note : found.notes) main += faint(note);
  return still_page({.title = "Agreement of methods on " + found.model.name,
                     .facts = agreement_facts(found),
                     .style = kStyle},
                    main);
}

}  // namespace whyformer
