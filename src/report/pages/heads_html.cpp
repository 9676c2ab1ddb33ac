// Heads as a page without a script: the picture, and the tables of roles.
#include "report/pages/still_page.h"
#include "report/views/heads_view.h"
#include "report/views/roles_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

ReportTable marks_table(const HeadRoles& roles) {
  ReportTable table{.title = "What the marks mean", .head = {"mark", "role", "attends to"}};
  table.names = 3;
  for (const RoleInfo& role : roles.roles) {
    table.rows.push_back({role.mark, role.name, role.summary});
  }
  return table;
}

}  // namespace
}  // namespace report

std::string to_html(const HeadImportance& importance) {
  using namespace report;
  std::string main =
      "<div class=\"card plot\">" + heads_picture(importance, PictureFormat::kSvg) + "</div>\n";
  if (importance.roles) {
    const HeadRoles& roles = *importance.roles;
    main += table_markup(roles_table(roles)) + table_markup(marks_table(roles));
    if (roles.syntax && !roles.syntax->relations.empty()) {
      main += table_markup(arcs_table(*roles.syntax, roles.settings));
    }
  }
  for (const std::string& note : importance.notes) {
    main += "<p class=\"faint\">" + escape_markup(printable(note)) + "</p>\n";
  }
  return still_page({.title = "Heads of " + model_line(importance.model),
                     .facts = corpus_line(importance),
                     .style = kPlotAndTablesStyle},
                    main);
}

}  // namespace whyformer
