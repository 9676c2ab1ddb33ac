#include "report/pages/still_page.h"
#include "report/views/importance_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

constexpr const char* kImportanceStyle = R"(
header { margin-bottom: 18px; }
.table-frame { margin-top: 8px; max-width: 100%; overflow-x: auto; }
td, th { text-align: right; white-space: nowrap; padding: 3px 8px; }
td.name, th.name { text-align: left; }
)";

}  // namespace

std::string to_html(const ComparedImportances& found) {
  using namespace report;
  std::string main = table_markup(importance_table(found));
  for (const std::string& note : found.notes)
    main += "<p class=\"faint\">" + escape_markup(printable(note)) + "</p>\n";
  return still_page({.title = "Importances of columns to " + found.model.name,
                     .facts = importance_facts(found),
                     .style = kImportanceStyle},
                    main);
}

}  // namespace whyformer
