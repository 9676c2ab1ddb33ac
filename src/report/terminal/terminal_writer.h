// Lines of a report for a terminal: what reports of all kinds are written with.
#pragma once

#include <string>
#include <string_view>

#include "report/terminal/terminal_style.h"
#include "report/views/view.h"

namespace whyformer::report {

class TerminalWriter {
 public:
  explicit TerminalWriter(const TerminalOptions& options);

  // Blanks at the end are left out.
  void line(std::string text);
  void bold(std::string_view text);  // one line, shortened
  void faint(std::string_view text);
  // Wrapped at blanks.
  void sentence(std::string_view text);
  void faint_sentence(std::string_view text);

  int width() const { return width_; }
  const TerminalStyle& style() const { return style_; }
  std::string finish() { return std::move(out_); }

 private:
  int width_;
  TerminalStyle style_;
  std::string out_;
};

}  // namespace whyformer::report
