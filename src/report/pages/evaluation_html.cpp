// Evaluations and agreement as pages without a script: the plot, and every number in tables.
#include <fmt/format.h>

#include "report/pages/still_page.h"
#include "report/pictures/evaluation_curves.h"
#include "report/pictures/evaluation_picture.h"
#include "report/views/agreement_view.h"
#include "report/views/evaluation_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr const char* kEvaluationStyle = R"(
header { margin-bottom: 18px; }
.plot { background: #fff; padding: 4px; max-width: 100%; overflow-x: auto; }
.plot svg { display: block; max-width: 100%; height: auto; }
/* On a phone panels side by side would be too small to read: they scroll. */
@media (max-width: 700px) { .means svg { max-width: none; } }
.curves { display: flex; flex-wrap: wrap; gap: 12px; }
.table-frame { margin-top: 8px; max-width: 100%; overflow-x: auto; }
th:first-child, td:first-child { text-align: left; }
td, th { text-align: right; white-space: nowrap; padding: 3px 8px; }
td.name, th.name { text-align: left; }
.strong { font-weight: 600; }
)";

std::string number_cell(const std::string& text, bool strong = false) {
  return fmt::format("<td class=\"number{}\">{}</td>", strong ? " strong" : "",
                     escape_markup(text));
}

std::string head_cell(const std::string& text) { return "<th>" + escape_markup(text) + "</th>"; }

std::string framed_table(const std::string& head, const std::string& rows) {
  return "<div class=\"table-frame\"><table><thead><tr>" + head + "</tr></thead><tbody>\n" + rows +
         "</tbody></table></div>\n";
}

std::string faint_paragraph(const std::string& text) {
  return "<p class=\"faint\">" + escape_markup(printable(text)) + "</p>\n";
}

std::string means_table(const Evaluation& evaluation) {
  std::string head = head_cell("method"), rows;
  const std::vector<size_t> columns = columns_with_values(evaluation);
  for (const size_t column : columns) head += head_cell(column_title(evaluation, column));
  head += head_cell("seconds");
  for (size_t method = 0; method < evaluation.methods.size(); ++method) {
    rows += "<tr><td>" + escape_markup(printable(evaluation.methods[method])) + "</td>";
    for (const size_t column : columns) {
      const EvaluationCell& one = evaluation.cells[method][column];
      rows += number_cell(cell_words(one), one.rank && *one.rank == 1);
    }
    rows += number_cell(fmt::format("{:.2f}", evaluation.costs[method].seconds)) + "</tr>\n";
  }
  return framed_table(head, rows);
}

std::string tests_table(const Evaluation& evaluation) {
  const std::string head = head_cell("metric") + head_cell("best") + head_cell("against") +
                           head_cell("difference") + head_cell("p, corrected") +
                           head_cell("inputs");
  std::string rows;
  for (const EvaluationTest& test : evaluation.tests) {
    rows += "<tr><td>" + escape_markup(column_title(evaluation, test.column)) + "</td>" +
            number_cell(test.best) + number_cell(test.other) +
            number_cell(test.difference ? fmt::format("{:+.3g}", *test.difference) : "–") +
            number_cell(test.p_value ? fmt::format("{:.2g}", *test.p_value) : "–",
                        test.p_value && *test.p_value <= 0.05) +
            number_cell(fmt::format("{}", test.inputs)) + "</tr>\n";
  }
  return framed_table(head, rows);
}

std::string curve_section(const Evaluation& evaluation) {
  std::string tables;
  for (const EvaluationCurve& curve : curves_with_values(evaluation)) {
    std::string head = head_cell(curve.name), rows;
    for (const size_t column : curve.columns) {
      head += head_cell(fmt::format("{:g}", evaluation.columns[column].point->x));
    }
    for (size_t method = 0; method < evaluation.methods.size(); ++method) {
      rows += "<tr><td>" + escape_markup(printable(evaluation.methods[method])) + "</td>";
      for (const size_t column : curve.columns) {
        const std::optional<double>& mean = evaluation.cells[method][column].mean;
        rows += number_cell(mean ? fmt::format("{:.3g}", *mean) : "–");
      }
      rows += "</tr>\n";
    }
    tables += framed_table(head, rows);
  }
  if (tables.empty()) return "";
  std::string plots;
  for (const std::string& picture : curve_pictures(evaluation)) {
    plots += "<div class=\"card plot\">" + picture + "</div>\n";
  }
  return "<h2>Curves</h2>\n<div class=\"curves\">\n" + plots + "</div>\n" + tables;
}

std::string explained_metrics(const Evaluation& evaluation) {
  std::string items;
  for (const size_t column : columns_with_values(evaluation)) {
    const EvaluationColumn& info = evaluation.columns[column];
    items += fmt::format("<li><strong>{}</strong>: {} ({}). Misleads: {}.</li>\n",
                         escape_markup(info.metric), escape_markup(info.summary),
                         escape_markup(info.paper), escape_markup(info.misleads));
  }
  return "<h2>What the numbers mean</h2>\n<ul>\n" + items + "</ul>\n";
}

std::string chance_words(const AgreementReport& found, size_t measure) {
  if (!found.chance_of_top_k || kAgreementMeasures[measure] != std::string_view("top-k")) return "";
  return fmt::format(". Chance, k / units: {:.2f}", *found.chance_of_top_k);
}

std::string agreement_table(const AgreementReport& found, size_t measure) {
  std::string head = head_cell(kAgreementMeasures[measure]), rows;
  for (const std::string& method : found.methods) head += head_cell(printable(method));
  for (size_t a = 0; a < found.methods.size(); ++a) {
    rows += "<tr><td>" + escape_markup(printable(found.methods[a])) + "</td>";
    for (size_t b = 0; b < found.methods.size(); ++b) {
      rows += number_cell(
          agreement_words(a == b ? found.ceiling[a][measure] : found.pairs[a][b][measure]));
    }
    rows += "</tr>\n";
  }
  return framed_table(head, rows) +
         faint_paragraph("Units relabelled: " + agreement_words(found.floor[measure]) +
                         chance_words(found, measure));
}

}  // namespace
}  // namespace report

std::string to_html(const Evaluation& evaluation) {
  using namespace report;
  std::string main = "<div class=\"card plot means\">" + means_picture(evaluation) + "</div>\n" +
                     "<h2>Means and intervals</h2>\n" + means_table(evaluation) +
                     "<h2>The best against the others</h2>\n" + tests_table(evaluation) +
                     faint_paragraph(
                         "Wilcoxon's signed-rank test over inputs, p-values corrected by Holm for "
                         "each metric.") +
                     curve_section(evaluation) + explained_metrics(evaluation);
  for (const std::string& note : evaluation.notes) main += faint_paragraph(note);
  return still_page({.title = evaluation_title(evaluation),
                     .facts = evaluation_facts(evaluation),
                     .style = kEvaluationStyle},
                    main);
}

std::string to_html(const AgreementReport& found) {
  using namespace report;
  std::string main =
      "<div class=\"card plot\">" + agreement_picture(found, PictureFormat::kSvg) + "</div>\n";
  for (size_t measure = 0; measure < kAgreementMeasureCount; ++measure) {
    main += agreement_table(found, measure);
  }
  main += faint_paragraph(
      "Diagonal: the same method with another seed, which is as far as methods can agree.");
  for (const ReportTable& table : column_tables(found)) main += table_markup(table);
  for (const std::string& note : found.notes) main += faint_paragraph(note);
  return still_page({.title = "Agreement of methods on " + found.model.name,
                     .facts = agreement_facts(found),
                     .style = kEvaluationStyle},
                    main);
}

std::string to_html(const AgreementOverModels& found) {
  using namespace report;
  std::string main;
  for (const ReportTable& table : model_tables(found)) main += table_markup(table);
  for (const AgreementReport& one : found.models) {
    for (const ReportTable& table : column_tables(one)) {
      ReportTable own = table;
      own.title = one.model.name + ": " + table.title;
      main += table_markup(own);
    }
    for (const std::string& note : one.notes) main += faint_paragraph(one.model.name + ": " + note);
  }
  return still_page({.title = fmt::format("Agreement of methods on {} models", found.models.size()),
                     .facts = found.models.empty() ? "" : agreement_facts(found.models[0]),
                     .style = kEvaluationStyle},
                    main);
}

}  // namespace whyformer
