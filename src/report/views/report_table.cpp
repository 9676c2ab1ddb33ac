#include "report/views/report_table.h"

#include <algorithm>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

std::string row_markup(const std::vector<std::string>& cells, const char* tag, size_t names) {
  std::string row = "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string start = i < names ? "<" + std::string(tag) + " class=\"name\">"
                                        : "<" + std::string(tag) + " class=\"number\">";
    row += start + escape_markup(cells[i]) + "</" + tag + ">";
  }
  return row + "</tr>";
}

}  // namespace

std::vector<std::string> terminal_lines(const ReportTable& table, int width) {
  std::vector<int> widths;
  for (size_t i = 0; i < table.head.size(); ++i) {
    int widest = columns(printable(table.head[i]));
    for (const auto& row : table.rows) widest = std::max(widest, columns(printable(row[i])));
    widths.push_back(widest);
  }
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<std::string>& cells) {
    std::string line = " ";
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = printable(cells[i]);
      line += " " + (i < table.names ? left_aligned(cell, widths[i])
                                     : " " + right_aligned(cell, widths[i]));
    }
    while (line.ends_with(' ')) line.pop_back();
    lines.push_back(shortened(line, width));
  };
  add(table.head);
  for (const auto& row : table.rows) add(row);
  return lines;
}

std::string table_markup(const ReportTable& table) {
  std::string rows;
  for (const auto& row : table.rows) rows += row_markup(row, "td", table.names) + "\n";
  std::string markup = "<h2>" + escape_markup(table.title) +
                       "</h2>\n<div class=\"table-frame\"><table><thead>" +
                       row_markup(table.head, "th", table.names) + "</thead><tbody>\n" + rows +
                       "</tbody></table></div>\n";
  if (!table.explained.empty())
    markup += "<p class=\"faint\">" + escape_markup(table.explained) + "</p>\n";
  return markup;
}

}  // namespace whyformer::report
