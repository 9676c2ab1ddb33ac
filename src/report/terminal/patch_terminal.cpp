// Patching for a terminal: a coloured grid for each kind of values, and its strongest cells.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal/terminal_writer.h"
#include "report/views/patch_view.h"
#include "report/views/text.h"
#include "report/views/view.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr int kWidestRowTitle = 18;
constexpr size_t kMostNamedPatches = 4;

class PatchLines : private TerminalWriter {
 public:
  PatchLines(const PatchReport& report, const TerminalOptions& options)
      : TerminalWriter(options), report_(report) {}

  std::string write() {
    bold(patch_title(report_));
    for (const std::string& fact : patch_facts(report_)) faint(fact);
    for (const EffectGrid& grid : report_.grids) add(grid);
    line("");
    faint_sentence(patch_meaning(report_));
    for (const std::string& note : report_.notes) faint_sentence(printable(note));
    return finish();
  }

 private:
  void add(const EffectGrid& grid) {
    PatchTable table = patch_table(report_, grid);
    const size_t rows_of_grid = table.rows.size();
    leave_out_empty_rows(table);
    line("");
    bold(table.title);
    int title = columns(table.down);
    for (const std::string& row : table.rows)
      title = std::max(title, std::min(kWidestRowTitle, columns(printable(row))));
    int cell = 5;
    for (const std::string& name : table.columns)
      cell = std::max(cell, std::min(10, columns(short_patch_title(name))) + 1);
    for (const auto& row : table.cells) {
      for (const double effect : row)
        cell = std::max(cell, columns(format_effect(effect, table.largest)));
    }
    const auto fitting =
        std::max<size_t>(1, static_cast<size_t>((width() - title - 1) / (cell + 1)));
    for (size_t begin = 0; begin < table.columns.size(); begin += fitting)
      block(table, begin, std::min(table.columns.size(), begin + fitting), title, cell);
    std::string strongest;
    for (const PatchExtreme& one : strongest_patches(grid, kMostNamedPatches))
      strongest +=
          fmt::format("{}{} {} “{}” {}", strongest.empty() ? "" : " · ", one.row, grid.column_axis,
                      printable(one.column), format_effect(one.effect, table.largest));
    if (!strongest.empty()) faint_sentence("Strongest: " + strongest);
    if (const std::string words = preview_words(grid); !words.empty()) faint_sentence(words);
    if (const size_t without = rows_of_grid - table.rows.size(); without > 0)
      faint_sentence(fmt::format("{} of {} {}s have no cell that was run, and are left out here.",
                                 without, rows_of_grid, table.down));
  }

  // A picture has hundreds of tokens, and a few strongest cells are in a few of them.
  static void leave_out_empty_rows(PatchTable& table) {
    size_t kept = 0;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      const bool has_number = std::ranges::any_of(
          table.cells[row], [](double effect) { return std::isfinite(effect); });
      if (!has_number) continue;
      if (kept != row) {
        table.rows[kept] = std::move(table.rows[row]);
        table.cells[kept] = std::move(table.cells[row]);
      }
      ++kept;
    }
    table.rows.resize(kept);
    table.cells.resize(kept);
  }

  // As many columns as the terminal has room for.
  void block(const PatchTable& table, size_t begin, size_t end, int title, int cell) {
    std::string heading = left_aligned(table.down + " \\ " + table.across, title);
    if (columns(heading) > title) heading = left_aligned("", title);
    for (size_t column = begin; column < end; ++column)
      heading +=
          " " + right_aligned(shortened(short_patch_title(table.columns[column]), cell), cell);
    line(style().faint(heading));
    for (size_t row = 0; row < table.rows.size(); ++row) {
      std::string text = left_aligned(shortened(printable(table.rows[row]), title), title);
      for (size_t column = begin; column < end; ++column) {
        const double effect = table.cells[row][column];
        text += " " + style().heat(right_aligned(format_effect(effect, table.largest), cell),
                                   strength(effect, table.scale), table.colours);
      }
      line(text);
    }
  }

  const PatchReport& report_;
};

}  // namespace
}  // namespace report

std::string to_terminal(const PatchReport& report, const TerminalOptions& options) {
  return report::PatchLines(report, options).write();
}

}  // namespace whyformer
