// Patching as a page without a script: the heat maps, and every number in tables.
#include <fmt/format.h>

#include "report/pages/still_page.h"
#include "report/pictures/patch_picture.h"
#include "report/views/patch_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr const char* kPatchStyle = R"(
header { margin-bottom: 18px; }
.plot { background: #fff; padding: 4px; max-width: 100%; overflow-x: auto; margin-bottom: 12px; }
.plot svg { display: block; height: auto; }
@media (min-width: 701px) { .plot svg { max-width: 100%; } }
.table-frame { margin: 8px 0 18px; max-width: 100%; overflow-x: auto; }
td, th { text-align: right; white-space: nowrap; padding: 3px 8px; }
th:first-child, td:first-child { text-align: left; }
)";

std::string patch_paragraph(const std::string& text) {
  return text.empty() ? "" : "<p class=\"faint\">" + escape_markup(printable(text)) + "</p>\n";
}

std::string patch_numbers(const PatchTable& table) {
  std::string head = "<th>" + escape_markup(table.down) + "</th>", rows;
  for (const std::string& column : table.columns)
    head += "<th>" + escape_markup(printable(column)) + "</th>";
  for (size_t row = 0; row < table.rows.size(); ++row) {
    rows += "<tr><td>" + escape_markup(printable(table.rows[row])) + "</td>";
    for (size_t column = 0; column < table.columns.size(); ++column) {
      std::string cell = format_effect(table.cells[row][column], table.largest);
      if (!table.errors.empty())
        cell += " ± " + format_effect(table.errors[row][column], table.largest);
      rows += "<td class=\"number\">" + cell + "</td>";
    }
    rows += "</tr>\n";
  }
  return "<details><summary>Numbers</summary><div class=\"table-frame\"><table><thead><tr>" + head +
         "</tr></thead><tbody>\n" + rows + "</tbody></table></div></details>\n";
}

}  // namespace
}  // namespace report

std::string to_html(const PatchReport& patches) {
  using namespace report;
  std::string facts, main = patch_paragraph(patch_meaning(patches));
  for (const std::string& fact : patch_facts(patches)) facts += (facts.empty() ? "" : " · ") + fact;
  for (const EffectGrid& grid : patches.grids) {
    const PatchTable table = patch_table(patches, grid);
    main += "<div class=\"card plot\">" + patch_grid_picture(table, PictureFormat::kSvg) +
            "</div>\n" + patch_paragraph(preview_words(grid)) + patch_numbers(table);
  }
  for (const std::string& note : patches.notes) main += patch_paragraph(note);
  return still_page({.title = patch_title(patches), .facts = facts, .style = kPatchStyle}, main);
}

}  // namespace whyformer
