// Linear probes for a terminal: a bar per layer, and the controls.
#include <fmt/format.h>

#include <algorithm>

#include "report/terminal/terminal_style.h"
#include "report/terminal/terminal_text.h"
#include "report/views/learned_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {

std::string to_terminal(const LearnedReport& found, const TerminalOptions& options) {
  using namespace report;
  const TerminalStyle style{options.colour};
  const int width = std::max(options.width, 44);
  std::string out = style.bold(shortened(title_of(found), width)) + "\n";
  const auto faint = [&](const std::string& sentence) {
    for (const std::string& part : wrapped_sentence(sentence, width)) {
      out += style.faint(part) + "\n";
    }
  };
  faint(settings_of(found));
  out += "\n";
  const int bar = std::clamp(width - 34, 4, 40);
  for (const LayerProbe& layer : found.layers) {
    const std::string number = fmt::format("{:.1f} %", 100 * layer.accuracy.share());
    std::string line = "  " + left_aligned(probed_layer_name(layer), 11) +
                       right_aligned(number, 8) + "  " +
                       style.bar(layer.accuracy.share(), bar, ScoreKind::kMagnitude);
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }
  out += "\n";
  const ReportTable table = probes_table(found);
  const std::vector<std::string> rows = terminal_lines(table, width);
  for (size_t i = 0; i < rows.size(); ++i) out += (i == 0 ? style.faint(rows[i]) : rows[i]) + "\n";
  faint(table.explained);
  for (const std::string& note : found.notes) faint(note);
  faint(fmt::format("runs {:.1f} s · fits {:.1f} s · layer 0 is nearest the input",
                    found.run_seconds, found.fit_seconds));
  return out;
}

}  // namespace whyformer
