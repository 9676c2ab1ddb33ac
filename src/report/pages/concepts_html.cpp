// Concept tests as a page without a script: the plot with its error bars, and every number in
// tables.
#include <fmt/format.h>

#include "report/pages/still_page.h"
#include "report/views/concepts_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr const char* kConceptsStyle = R"(
header { margin-bottom: 18px; }
.plot { background: #fff; padding: 4px; width: max-content; max-width: 100%; }
.plot svg { display: block; max-width: 100%; height: auto; }
.table-frame { margin-top: 8px; width: max-content; max-width: 100%; }
th:first-child, td:first-child { text-align: left; unicode-bidi: plaintext; }
td, th { text-align: right; }
.strong { font-weight: 600; }
)";

std::string cell(const std::string& text, bool strong = false) {
  return fmt::format("<td class=\"number{}\">{}</td>", strong ? " strong" : "",
                     escape_markup(text));
}

std::string name_cell(const std::string& name) {
  return fmt::format("<td>{}</td>", escape_markup(printable(name)));
}

std::string p_cell(const std::optional<CorrectedP>& p) {
  return cell(p ? format_p(p->benjamini_hochberg) : "–");
}

std::string score_cell(double score, double spread) { return cell(format_spread(score, spread)); }

std::string row_of(const ConceptTest& test) {
  const bool learnt = test.verdict != Verdict::kNotLearnt;
  std::string row = name_cell(test.concept_name);
  row += learnt ? score_cell(test.mean.score, test.deviation) +
                      cell(fmt::format("{:.3g}", test.mean.unit_magnitude))
                : cell("–") + cell("–");
  row += cell(fmt::format("{:.0f} %", 100 * test.held_out.accuracy));
  row += learnt ? p_cell(test.t_test) + p_cell(test.score_permutation) +
                      p_cell(test.magnitude_permutation)
                : cell("") + cell("") + cell("");
  return row + cell(verdict_words(test.verdict), test.verdict == Verdict::kSignificant);
}

std::string row_of(const ConceptPair& pair) {
  std::string row = name_cell(pair.concept_name + " against " + pair.against);
  row += pair.learnt ? score_cell(pair.sensitivity.score, pair.standard_error) +
                           cell(fmt::format("{:.3g}", pair.sensitivity.unit_magnitude))
                     : cell("–") + cell("–");
  return row + cell(fmt::format("{:.0f} %", 100 * pair.held_out.accuracy)) + cell("") + cell("") +
         cell("") + cell(pair.learnt ? "" : "no direction");
}

std::string table_of(const ConceptGroup& group) {
  std::string rows;
  for (const ConceptTest* test : group.tests) rows += "<tr>" + row_of(*test) + "</tr>\n";
  const ConceptTest& any = *group.tests[0];
  rows += "<tr class=\"faint\">" + name_cell("random against random") +
          score_cell(any.random_mean, any.random_deviation) + "</tr>\n";
  for (const ConceptPair* pair : group.pairs) rows += "<tr>" + row_of(*pair) + "</tr>\n";
  return fmt::format(
      "<h2>{}, layer {}</h2>\n<div "
      "class=\"table-frame\"><table><thead><tr><th>concept</th><th>score</th><th>slope</th>"
      "<th>held out</th><th>p, t-test</th><th>p, relabelled score</th><th>p, relabelled "
      "slope</th><th></th></tr></thead>"
      "<tbody>\n{}</tbody></table></div>\n",
      escape_markup(printable(group.target)), group.layer, rows);
}

}  // namespace
}  // namespace report

std::string to_html(const ConceptReport& found) {
  using namespace report;
  std::string main =
      "<div class=\"card plot\">" + concepts_picture(found, PictureFormat::kSvg) + "</div>\n";
  for (const ConceptGroup& group : groups_of(found)) main += table_of(group);
  main +=
      "<p class=\"faint\">Score: share of the target's examples whose answer rises along the "
      "concept; slope: the mean rise along "
      "a step of length 1; p-values corrected by Benjamini and Hochberg; held out: how well "
      "concept and random "
      "examples are told apart where the fit has not seen them.</p>\n";
  for (const std::string& note : found.notes)
    main += "<p class=\"faint\">" + escape_markup(note) + "</p>\n";
  return still_page(
      {.title = title_of(found), .facts = settings_of(found), .style = kConceptsStyle}, main);
}

}  // namespace whyformer
