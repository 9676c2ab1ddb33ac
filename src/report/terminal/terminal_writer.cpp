#include "report/terminal/terminal_writer.h"

#include <algorithm>

#include "report/terminal/terminal_text.h"
#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr int kNarrowestReport = 44;

}  // namespace

TerminalWriter::TerminalWriter(const TerminalOptions& options)
    : width_(std::max(options.width, kNarrowestReport)), style_{options.colour} {}

void TerminalWriter::line(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  out_ += text + "\n";
}

void TerminalWriter::bold(std::string_view text) { line(style_.bold(shortened(text, width_))); }

void TerminalWriter::faint(std::string_view text) { line(style_.faint(shortened(text, width_))); }

void TerminalWriter::sentence(std::string_view text) {
  for (const std::string& part : wrapped_sentence(text, width_)) line(part);
}

void TerminalWriter::faint_sentence(std::string_view text) {
  for (const std::string& part : wrapped_sentence(text, width_)) line(style_.faint(part));
}

}  // namespace whyformer::report
