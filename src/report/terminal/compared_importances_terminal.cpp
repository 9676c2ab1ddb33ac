#include "report/terminal/terminal_style.h"
#include "report/terminal/terminal_text.h"
#include "report/views/importance_view.h"
#include "whyformer/printable.h"
#include "whyformer/report.h"

namespace whyformer {

std::string to_terminal(const ComparedImportances& found, const TerminalOptions& options) {
  using namespace report;
  const TerminalStyle style{options.colour};
  const ReportTable table = importance_table(found);
  std::string text = style.bold(table.title + " of " + printable(found.model.name)) + "\n";
  text += style.faint("  " + importance_facts(found)) + "\n\n";
  for (const std::string& line : terminal_lines(table, options.width)) text += line + "\n";
  text += "\n";
  std::vector<std::string> sentences{table.explained};
  for (const std::string& note : found.notes) sentences.push_back(printable(note));
  for (const std::string& sentence : sentences) {
    for (const std::string& line : wrapped_sentence(sentence, options.width))
      text += style.faint(line) + "\n";
  }
  return text;
}

}  // namespace whyformer
