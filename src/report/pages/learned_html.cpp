// Linear probes as a page without a script: the plot, and every number in a table.
#include "report/pages/still_page.h"
#include "report/views/learned_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr const char* kLearnedStyle = R"(
header { margin-bottom: 18px; }
.plot { background: #fff; padding: 4px; max-width: 100%; overflow-x: auto; }
.plot svg { display: block; max-width: 100%; height: auto; }
@media (max-width: 700px) { .plot svg { max-width: none; } }
.table-frame { margin-top: 8px; max-width: 100%; overflow-x: auto; }
td, th { text-align: right; white-space: nowrap; padding: 3px 8px; }
td.name, th.name { text-align: left; }
)";

}  // namespace
}  // namespace report

std::string to_html(const LearnedReport& found) {
  using namespace report;
  std::string main =
      "<div class=\"card plot\">" + learned_picture(found, PictureFormat::kSvg) + "</div>\n";
  main += table_markup(probes_table(found));
  for (const std::string& note : found.notes) {
    main += "<p class=\"faint\">" + escape_markup(printable(note)) + "</p>\n";
  }
  return still_page({.title = title_of(found), .facts = settings_of(found), .style = kLearnedStyle},
                    main);
}

}  // namespace whyformer
