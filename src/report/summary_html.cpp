// A summary as a page without a script: both plots for light and for dark paper, and a table.
#include <fmt/format.h>

#include "report/page_style.h"
#include "report/summary_view.h"
#include "report/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr const char* kStyle = R"(
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

std::string plot(const Summary& summary, SummaryPlot which) {
  const auto drawn = [&](const Palette& palette) {
    return draw_summary(summary, which, {.palette = palette, .titled = false});
  };
  return fmt::format(
      "<div class=\"card\"><div class=\"for-light\">{}</div><div class=\"for-dark\">{}</div></div>\n",
      drawn(kLightPalette), drawn(kDarkPalette));
}

std::string table(const Summary& summary) {
  std::string rows;
  const double largest = largest_bar(summary);
  for (const SummaryRow& row : summary.rows) {
    double sum = 0;
    for (const SummaryPoint& point : row.points) sum += point.score;
    const double mean = row.points.empty() ? 0 : sum / static_cast<double>(row.points.size());
    rows += fmt::format(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td "
        "class=\"number\">{}</td></tr>\n",
        escape_markup(printable(row.name)), format_bar(row.mean, largest), format_bar(row.total, largest),
        format_bar(mean, largest), row.points.size());
  }
  return "<div class=\"table-frame\"><table><thead><tr><th>feature</th><th>mean |score|</th><th>sum of |score|</th>"
         "<th>mean score</th><th>points</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></div>\n";
}

}  // namespace
}  // namespace report

std::string to_html(const Summary& summary) {
  using namespace report;
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta "
      "name=\"generator\" content=\"Whyformer\">\n<title>{0}</title><style>{2}{3}</style></head><body>\n"
      "<header><h1>{0}</h1>"
      "<p class=\"faint\">{1}</p></header>\n<main>\n<div class=\"plots\">{4}{5}</div>\n{6}</main>\n<footer>Made by "
      "Whyformer. This page is complete in itself: it loads nothing and sends nothing.</footer>\n</body></html>\n",
      escape_markup(summary_title(summary)), escape_markup(summary_facts(summary)), style_sheet(), kStyle,
      plot(summary, SummaryPlot::kBar), plot(summary, SummaryPlot::kBeeswarm), table(summary));
}

}  // namespace whyformer
