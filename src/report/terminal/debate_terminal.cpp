// A debate for a terminal: a question, a verdict and the numbers of each part.
#include "report/terminal/terminal_writer.h"
#include "report/views/debate_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

void add_table(const ReportTable& table, TerminalWriter& lines) {
  lines.faint_sentence(printable(table.title));
  for (const std::string& row : terminal_lines(table, lines.width())) lines.line(row);
  if (!table.explained.empty()) lines.faint_sentence(printable(table.explained));
}

}  // namespace
}  // namespace report

std::string to_terminal(const DebateReport& report, const TerminalOptions& options) {
  using namespace report;
  TerminalWriter lines(options);
  lines.bold(printable(debate_title(report)));
  lines.faint_sentence(printable(debate_facts(report)));
  for (const DebateSection& section : debate_sections(report)) {
    lines.line("");
    lines.bold(section.part.question);
    if (section.verdict != nullptr) {
      lines.sentence(printable(section.verdict->says));
      lines.sentence("Not shown: " + printable(section.verdict->does_not_show));
    }
    for (const std::string& reason : section.refusals)
      lines.sentence("Left out: " + printable(reason) + ".");
    for (const ReportTable& table : section.tables) add_table(table, lines);
  }
  if (!report.notes.empty()) lines.line("");
  for (const std::string& note : report.notes) lines.faint_sentence(printable(note));
  return lines.finish();
}

}  // namespace whyformer
