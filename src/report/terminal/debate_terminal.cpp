// A debate for a terminal: a question, a verdict and the numbers of each part.
#include <fmt/format.h>

#include <algorithm>

#include "report/terminal/terminal_style.h"
#include "report/terminal/terminal_text.h"
#include "report/views/debate_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

class DebateLines {
 public:
  explicit DebateLines(const TerminalOptions& options)
      : width_(std::max(options.width, 44)), style_{options.colour} {}

  void line(std::string text) {
    while (text.ends_with(' ')) text.pop_back();
    out_ += text + "\n";
  }
  void bold(const std::string& text) { line(style_.bold(shortened(printable(text), width_))); }
  void sentence(const std::string& text) {
    for (const std::string& part : wrapped_sentence(printable(text), width_)) line(part);
  }
  void faint(const std::string& text) {
    for (const std::string& part : wrapped_sentence(printable(text), width_))
      line(style_.faint(part));
  }
  void table(const ReportTable& table) {
    faint(table.title);
    for (const std::string& row : terminal_lines(table, width_)) line(row);
    if (!table.explained.empty()) faint(table.explained);
  }
  std::string finish() { return std::move(out_); }

 private:
  int width_;
  TerminalStyle style_;
  std::string out_;
};

}  // namespace
}  // namespace report

std::string to_terminal(const DebateReport& report, const TerminalOptions& options) {
  using namespace report;
  DebateLines lines(options);
  lines.bold(debate_title(report));
  lines.faint(debate_facts(report));
  for (const DebateSection& section : debate_sections(report)) {
    lines.line("");
    lines.bold(section.part.question);
    if (section.verdict != nullptr) {
      lines.sentence(section.verdict->says);
      lines.sentence("Not shown: " + section.verdict->does_not_show);
    }
    for (const std::string& reason : section.refusals) lines.sentence("Left out: " + reason + ".");
    for (const ReportTable& table : section.tables) lines.table(table);
  }
  if (!report.notes.empty()) lines.line("");
  for (const std::string& note : report.notes) lines.faint(note);
  return lines.finish();
}

}  // namespace whyformer
