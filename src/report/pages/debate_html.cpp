// A debate as a page without a script that reads as an answer: what each part says and does not
// show, then the numbers.
#include <fmt/format.h>

#include "report/pages/still_page.h"
#include "report/pictures/debate_panels.h"
#include "report/views/debate_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr const char* kDebateStyle = R"(
header { margin-bottom: 18px; }
main p { max-width: 75ch; }
.answers { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 12px; }
.answer { padding: 10px 16px; }
.answer h2 { margin: 4px 0; font-size: 1.05rem; }
.answer p { margin: 6px 0; }
.plots { display: flex; flex-wrap: wrap; gap: 12px; align-items: flex-start; margin: 16px 0; }
.plot { background: #fff; padding: 4px; max-width: 100%; overflow-x: auto; }
.plot svg { display: block; max-width: 100%; height: auto; }
.table-frame { margin-top: 8px; max-width: 100%; overflow-x: auto; }
details { margin: 10px 0; }
summary { cursor: pointer; font-size: 1rem; font-weight: 500; }
td, th { text-align: right; white-space: nowrap; padding: 3px 8px; }
td.name, th.name { text-align: left; }
)";

std::string paragraph(const std::string& text, const char* kind = "") {
  return fmt::format("<p{}>{}</p>\n", kind, escape_markup(printable(text)));
}

std::string answer(const DebateSection& section) {
  std::string markup =
      "<section class=\"card answer\"><h2>" + escape_markup(section.part.question) + "</h2>\n";
  if (section.verdict != nullptr) {
    markup += paragraph(section.verdict->says) +
              paragraph("Not shown: " + section.verdict->does_not_show, " class=\"faint\"");
  }
  for (const std::string& reason : section.refusals)
    markup += paragraph("Left out: " + reason + ".", " class=\"faint\"");
  return markup + "</section>\n";
}

std::string numbers(const DebateSection& section) {
  if (section.tables.empty()) return "";
  std::string markup =
      fmt::format("<details><summary>{} · {}</summary>\n", escape_markup(section.part.question),
                  escape_markup(section.part.paper));
  for (const ReportTable& table : section.tables) markup += table_markup(table);
  return markup + "</details>\n";
}

}  // namespace
}  // namespace report

std::string to_html(const DebateReport& found) {
  using namespace report;
  std::string answers, plots, details, notes;
  for (const DebateSection& section : debate_sections(found)) {
    answers += answer(section);
    details += numbers(section);
  }
  for (const std::string& picture : debate_pictures(found))
    plots += "<div class=\"card plot\">" + picture + "</div>\n";
  for (const std::string& note : found.notes) notes += paragraph(note, " class=\"faint\"");
  return still_page(
      {.title = debate_title(found), .facts = debate_facts(found), .style = kDebateStyle},
      "<div class=\"answers\">\n" + answers + "</div>\n" +
          (plots.empty() ? "" : "<div class=\"plots\">\n" + plots + "</div>\n") +
          (details.empty() ? "" : "<h2>The numbers</h2>\n" + details) + notes);
}

}  // namespace whyformer
