// The terminal: is there one, how wide is it, may we colour it, was Ctrl-C pressed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace whyformer::cli {

// Colour on standard output: a terminal, not dumb, and NO_COLOR unset or empty.
bool may_colour();
int terminal_width();
bool input_is_terminal();
bool progress_is_visible();  // standard error is a terminal

// From now on Ctrl-C sets a flag instead of ending the program; a second Ctrl-C ends it.
void catch_interrupts();
bool interrupted();

// Writes to standard output at once. Throws FileError if that fails (disk full, say). What comes from files must have been
// made printable.
void print(std::string_view text);

// One line on standard error, made printable.
void tell(std::string_view line);

// "what 12/300 ████░░░ 4.1/s 1:10 left" on standard error, redrawn in place; nothing where standard
// error is not a terminal. Appears only when the work has taken a while.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  void show(int64_t done, int64_t total);
  void clear();

 private:
  std::string what_;
  double started_;
  double drawn_ = 0;
  int64_t last_ = 0;
  bool visible_ = false;
};

}  // namespace whyformer::cli
