#include "console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer::cli {
namespace {

volatile std::sig_atomic_t g_signal = 0;  // the first that came while there was something to keep
volatile std::sig_atomic_t g_signal_millisecond = 0;
volatile std::sig_atomic_t g_keeping = 0;
volatile std::sig_atomic_t g_bar_is_drawn = 0;

// Of some clock; wraps around. As everything here, safe inside a signal handler.
std::sig_atomic_t millisecond() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::sig_atomic_t>((time.tv_sec % 1'000'000) * 1000 +
                                        time.tv_nsec / 1'000'000);
}

void on_interrupt(int signal) {
  // Programs such as timeout send their signal twice, to the process and to its group.
  constexpr int kSameSignal = 300;
  if (g_signal != 0 && g_keeping > 0 &&
      std::abs(millisecond() - g_signal_millisecond) < kSameSignal)
    return;
  if (g_keeping > 0 && g_signal == 0) {
    g_signal_millisecond = millisecond();
    g_signal = signal;
    return;
  }
  constexpr std::string_view kAfterBar = "\r\x1b[Kwhyformer: interrupted\n";
  const std::string_view message = kAfterBar.substr(g_bar_is_drawn ? 0 : 4);
  [[maybe_unused]] const ssize_t told = write(STDERR_FILENO, message.data(), message.size());
  _exit(128 + signal);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

bool may_colour() {
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::strcmp(terminal, "dumb") == 0;
  return isatty(STDOUT_FILENO) && !dumb && !is_set("NO_COLOR");
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return 80;
}

bool input_is_terminal() { return isatty(STDIN_FILENO); }

bool progress_is_visible() { return isatty(STDERR_FILENO); }

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

KeepAnswers::KeepAnswers() { g_keeping = g_keeping + 1; }

KeepAnswers::~KeepAnswers() { g_keeping = g_keeping - 1; }

bool interrupted() { return g_signal != 0; }

int exit_code_of_interruption() { return 128 + (g_signal != 0 ? g_signal : SIGINT); }

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw FileError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

void tell(std::string_view line) { fmt::print(stderr, "{}\n", printable(line)); }

ProgressBar::ProgressBar(std::string what) : what_(std::move(what)), started_(now()) {}

ProgressBar::~ProgressBar() { clear(); }

// What long work will take, as soon as that can be told; once, also where no bar is drawn.
void ProgressBar::tell_cost(int64_t done, int64_t total, double seconds) {
  constexpr double kLong = 20;
  if (cost_told_ || total <= done || done == 0) return;
  cost_told_ = true;
  const double whole = seconds * static_cast<double>(total) / static_cast<double>(done);
  if (whole < kLong) return;
  clear();
  tell(fmt::format("{}: {} in about {}", what_, total,
                   whole < 100    ? fmt::format("{:.0f} seconds", whole)
                   : whole < 5400 ? fmt::format("{:.0f} minutes", whole / 60)
                                  : fmt::format("{:.1f} hours", whole / 3600)));
}

void ProgressBar::show(int64_t done, int64_t total) {
  constexpr double kPatience = 0.5, kRefresh = 0.1;
  const double time = now();
  if (done < last_) started_ = time;  // the next piece of work
  last_ = done;
  if (time - started_ >= kPatience) tell_cost(done, total, time - started_);
  if (!progress_is_visible() || time - started_ < kPatience || time - drawn_ < kRefresh) return;
  drawn_ = time;
  visible_ = true;
  g_bar_is_drawn = 1;
  const double rate = static_cast<double>(done) / (time - started_);
  if (total <= 0) {
    fmt::print(stderr, "\r\x1b[K{} {} {:.1f}/s", what_, done, rate);
    std::fflush(stderr);
    return;
  }
  constexpr int kWidth = 24;
  const double share = static_cast<double>(done) / static_cast<double>(total);
  const int filled = std::clamp(static_cast<int>(share * kWidth), 0, kWidth);
  std::string bar;
  for (int i = 0; i < kWidth; ++i) bar += i < filled ? "█" : "░";
  const auto left = static_cast<int64_t>(rate > 0 ? static_cast<double>(total - done) / rate : 0);
  fmt::print(stderr, "\r\x1b[K{} {}/{} {} {:.1f}/s {}:{:02d} left", what_, done, total, bar, rate,
             left / 60, left % 60);
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (!visible_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  visible_ = false;
  g_bar_is_drawn = 0;
}

}  // namespace whyformer::cli
