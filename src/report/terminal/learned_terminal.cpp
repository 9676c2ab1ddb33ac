// Linear probes for a terminal: a bar per layer, and the controls.
#include <fmt/format.h>

#include <algorithm>

#include "report/terminal/terminal_writer.h"
#include "report/views/learned_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {

std::string to_terminal(const LearnedReport& found, const TerminalOptions& options) {
  using namespace report;
  TerminalWriter lines(options);
  lines.bold(title_of(found));
  lines.faint_sentence(settings_of(found));
  lines.line("");
  const int bar = std::clamp(lines.width() - 34, 4, 40);
  for (const LayerProbe& layer : found.layers) {
    const std::string number = fmt::format("{:.1f} %", 100 * layer.accuracy.share());
    lines.line("  " + left_aligned(probed_layer_name(layer), 11) + right_aligned(number, 8) + "  " +
               lines.style().bar(layer.accuracy.share(), bar, ScoreKind::kMagnitude));
  }
  lines.line("");
  const ReportTable table = probes_table(found);
  const std::vector<std::string> rows = terminal_lines(table, lines.width());
  for (size_t i = 0; i < rows.size(); ++i)
    lines.line(i == 0 ? lines.style().faint(rows[i]) : rows[i]);
  lines.faint_sentence(table.explained);
  for (const std::string& note : found.notes) lines.faint_sentence(note);
  lines.faint_sentence(fmt::format("runs {:.1f} s · fits {:.1f} s · layer 0 is nearest the input",
                                   found.run_seconds, found.fit_seconds));
  return lines.finish();
}

}  // namespace whyformer
