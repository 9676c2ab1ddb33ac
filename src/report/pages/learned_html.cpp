// Linear probes as a page without a script: the plot, and every number in a table.
#include "report/pages/still_page.h"
#include "report/views/learned_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {

std::string to_html(const LearnedReport& found) {
  using namespace report;
  std::string main =
      "<div class=\"card plot\">" + learned_picture(found, PictureFormat::kSvg) + "</div>\n";
  main += table_markup(probes_table(found));
  for (const std::string& note : found.notes) {
    main += "<p class=\"faint\">" + escape_markup(printable(note)) + "</p>\n";
  }
  return still_page(
      {.title = title_of(found), .facts = settings_of(found), .style = kPlotAndTablesStyle}, main);
}

}  // namespace whyformer
