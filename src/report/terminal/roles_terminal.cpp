#include "report/terminal/roles_terminal.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/terminal/terminal_text.h"
#include "report/views/roles_view.h"
#include "report/views/text.h"
#include "whyformer/printable.h"

namespace whyformer::report {
namespace {

constexpr int kLayerColumn = 7;  // "  layer"
constexpr int kMarkColumn = 7;   // a blank and six letters

// Layers with many heads go on below, in groups that fit the terminal.
void add_marks(const HeadRoles& roles, const TerminalStyle& style, int width,
               std::vector<std::string>& lines) {
  size_t most = 0;
  for (const auto& layer : roles.heads) most = std::max(most, layer.size());
  const auto group = static_cast<size_t>(std::max(1, (width - kLayerColumn) / kMarkColumn));
  for (size_t first = 0; first < most; first += group) {
    std::string heading = "  layer";
    for (size_t head = first; head < std::min(most, first + group); ++head) {
      heading += right_aligned(fmt::format("{}", head), kMarkColumn);
    }
    lines.push_back(style.faint(heading));
    for (size_t layer = 0; layer < roles.heads.size(); ++layer) {
      std::string row = right_aligned(fmt::format("{}", layer), kLayerColumn);
      const auto& heads = roles.heads[layer];
      for (size_t head = first; head < std::min(heads.size(), first + group); ++head) {
        row += " " + style.heat(right_aligned(role_mark(roles, heads[head]), kMarkColumn - 1),
                                role_share(heads[head]), ScoreKind::kMagnitude);
      }
      lines.push_back(row);
    }
  }
}

void add_table(const ReportTable& table, const TerminalStyle& style, int width,
               std::vector<std::string>& lines) {
  lines.push_back("");
  const std::vector<std::string> rows = terminal_lines(table, width);
  for (size_t i = 0; i < rows.size(); ++i) lines.push_back(i == 0 ? style.faint(rows[i]) : rows[i]);
  for (const std::string& part : wrapped_sentence(table.explained, width)) {
    lines.push_back(style.faint(part));
  }
}

}  // namespace

std::vector<std::string> roles_lines(const HeadRoles& roles, const TerminalStyle& style,
                                     int width) {
  std::vector<std::string> lines{"", style.bold("roles")};
  add_marks(roles, style, width, lines);
  add_table(roles_table(roles), style, width, lines);
  if (!roles.syntax || roles.syntax->relations.empty()) return lines;
  lines.push_back("");
  lines.push_back(style.bold("dependency arcs") +
                  style.faint("  " + quantity(roles.syntax->sentences, "sentence") + " · " +
                              quantity(roles.syntax->arcs, "arc")));
  add_table(arcs_table(*roles.syntax, roles.settings), style, width, lines);
  return lines;
}

}  // namespace whyformer::report
