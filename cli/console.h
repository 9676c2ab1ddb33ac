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

// Ctrl-C and SIGTERM end the program at once, with the exit code 128 + signal, as long as there is
// nothing to keep.
void catch_interrupts();

// While one lives, the first Ctrl-C or SIGTERM sets a flag that long work looks at, so that what is
// done can be kept; the second ends the program.
class KeepAnswers {
 public:
  KeepAnswers();
  ~KeepAnswers();
  KeepAnswers(const KeepAnswers&) = delete;
  KeepAnswers& operator=(const KeepAnswers&) = delete;
};
bool interrupted();
int exit_code_of_interruption();

// Writes to standard output at once. Throws FileError if that fails (disk full, say). What comes
// from files must have been made printable.
void print(std::string_view text);

// One line on standard error, made printable.
void tell(std::string_view line);

// "what 12/300 ████░░░ 4.1/s 1:10 left" on standard error, redrawn in place, or "what 12 4.1/s"
// where the total is 0, which means that nobody knows it; nothing where standard error is not a
// terminal. Appears only when the work has taken a while. Work that will take long is announced in
// a line, once.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  void show(int64_t done, int64_t total);
  void clear();

 private:
  void tell_cost(int64_t done, int64_t total, double seconds);

  std::string what_;
  double started_;
  double drawn_ = 0;
  int64_t last_ = 0;
  bool visible_ = false;
  bool cost_told_ = false;
};

}  // namespace whyformer::cli
