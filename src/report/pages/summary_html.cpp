// A summary as a page without a script: all plots for light and for dark paper, and a table.
#include <fmt/format.h>

#include <algorithm>

#include "report/pages/still_page.h"
#include "report/views/dependence.h"
#include "report/views/summary_view.h"
#include "report/views/text.h"
#include "studies/summary/column_values.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr size_t kMostDependencePlots = 4;
constexpr const char* kSummaryStyle = R"(
header { margin-bottom: 18px; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr)); gap: 16px;
  align-items: start; }
.plots .card { padding: 4px; }
.plots svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
.for-dark { display: none; }
@media screen and (prefers-color-scheme: dark) { .for-dark { display: block; } .for-light { display: none; } }
.table-frame { margin-top: 16px; width: max-content; max-width: 100%; }
th:nth-child(2), td:nth-child(2) { text-align: right; }
th:first-child, td:first-child { text-align: left; unicode-bidi: plaintext; }
)";

// `draw` takes a style; each card has the plot for light and for dark paper.
template <class Draw>
std::string card(Draw draw) {
  const auto drawn = [&](const Palette& palette) {
    return draw(SummaryStyle{.palette = palette, .titled = false});
  };
  return fmt::format(
      "<div class=\"card\"><div class=\"for-light\">{}</div><div "
      "class=\"for-dark\">{}</div></div>\n",
      drawn(kLightPalette), drawn(kDarkPalette));
}

std::string plots(const Summary& summary) {
  std::string cards;
  for (const SummaryPlot which :
       {SummaryPlot::kBar, SummaryPlot::kBeeswarm, SummaryPlot::kHeatMap}) {
    // Texts have few words in common: a grid of them would be nearly empty.
    if (which == SummaryPlot::kHeatMap && (summary.instances < 2 || !is_of_table(summary)))
      continue;
    cards += card([&](const SummaryStyle& style) { return draw_summary(summary, which, style); });
  }
  return cards;
}

// Of the strongest columns of a table; nothing for texts.
std::string dependence_plots(const Summary& summary) {
  const std::vector<const SummaryRow*> columns = columns_of(summary);
  if (columns.empty() || summary.instances < 2) return "";
  std::string cards;
  for (size_t i = 0; i < std::min(columns.size(), kMostDependencePlots); ++i) {
    cards += card([&](const SummaryStyle& style) {
      return draw_dependence(summary, columns[i]->name, style);
    });
  }
  return "<h2>Scores over the values of the strongest columns</h2>\n<div class=\"plots\">" + cards +
         "</div>\n";
}

std::string table(const Summary& summary) {
  std::string rows;
  const double largest = largest_bar(summary);
  for (const SummaryRow& row : summary.rows) {
    double sum = 0;
    for (const SummaryPoint& point : row.points) sum += point.score;
    const double mean = row.points.empty() ? 0 : sum / static_cast<double>(row.points.size());
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td "
        "class=\"number\">{}</td><td "
        "class=\"number\">{}</td></tr>\n",
        escape_markup(printable(row.name)), format_bar(row.mean, largest),
        format_bar(row.total, largest), format_bar(mean, largest), row.points.size());
  }
  return "<div class=\"table-frame\"><table><thead><tr><th>feature</th><th>mean "
         "|score|</th><th>sum of |score|</th>"
         "<th>mean score</th><th>points</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string note_paragraphs(const Summary& summary) {
  std::string text;
  for (const std::string& note : summary.notes)
    text += "<p class=\"faint\">" + escape_markup(note) + "</p>\n";
  return text;
}

}  // namespace
}  // namespace report

std::string to_html(const Summary& summary) {
  using namespace report;
  return still_page(
      {.title = summary_title(summary), .facts = summary_facts(summary), .style = kSummaryStyle},
      fmt::format("<div class=\"plots\">{}</div>\n{}{}{}", plots(summary),
                  dependence_plots(summary), table(summary), note_paragraphs(summary)));
}

}  // namespace whyformer
