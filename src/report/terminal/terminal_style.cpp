#include "report/terminal/terminal_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace whyformer::report {
namespace {

constexpr std::array<const char*, 8> kHeights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 3> kShades{"░", "▒", "▓"};
constexpr std::array<const char*, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};

std::string repeated(const char* part, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += part;
  return out;
}

int level(double strength) {
  return static_cast<int>(std::lround(std::abs(strength) * kTerminalLevels));
}

}  // namespace

std::string TerminalStyle::bold(std::string_view text) const {
  return colour ? fmt::format("\x1b[1m{}\x1b[0m", text) : std::string(text);
}

std::string TerminalStyle::faint(std::string_view text) const {
  return colour ? fmt::format("\x1b[2m{}\x1b[0m", text) : std::string(text);
}

std::string TerminalStyle::heat(std::string_view text, double strength, ScoreKind kind) const {
  const int steps = level(strength);
  if (!colour || steps == 0) return std::string(text);
  return fmt::format("\x1b[{}38;5;231;48;5;{}m{}\x1b[0m", steps == kTerminalLevels ? "1;" : "",
                     terminal_background(strength, kind, steps), text);
}

std::string TerminalStyle::bar(double strength, int width, ScoreKind kind) const {
  const int eighths = static_cast<int>(std::lround(std::abs(strength) * width * 8));
  int full = eighths / 8;
  std::string drawn;
  if (!colour && strength < 0) {
    full = (eighths + 4) / 8;
    drawn = repeated(kShades[1], full);
    if (full == 0 && eighths > 0) drawn = kShades[0];
  } else {
    drawn = repeated(kHeights[7], full) + kEighths[static_cast<size_t>(eighths % 8)];
  }
  const int used = drawn.empty() ? 0 : static_cast<int>(drawn.size()) / 3;  // 3 bytes per block
  if (colour && used > 0) {
    const Colour paint =
        mix(hue(kLightPalette, strength, kind), hue(kDarkPalette, strength, kind), 0.5);
    drawn = fmt::format("\x1b[38;5;{}m{}\x1b[0m", xterm_colour(paint), drawn);
  }
  return drawn + std::string(static_cast<size_t>(std::max(0, width - used)), ' ');
}

std::string heat_mark(double strength) {
  if (level(strength) == 0) return " ";
  if (strength > 0) return kHeights[std::min<size_t>(7, static_cast<size_t>(strength * 8))];
  return kShades[std::min<size_t>(2, static_cast<size_t>(-strength * 3))];
}

}  // namespace whyformer::report
