// A summary for a terminal: a bar per feature, and how its scores spread around zero.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/terminal/terminal_style.h"
#include "report/terminal/terminal_text.h"
#include "report/views/summary_view.h"
#include "report/views/text.h"
#include "whyformer/report.h"

namespace whyformer {
namespace report {
namespace {

constexpr int kNarrowestTerminal = 44, kWidestName = 26, kWidestBar = 24, kNarrowestSpread = 15,
              kWidestSpread = 61;

class SummaryText {
 public:
  SummaryText(const Summary& summary, const TerminalOptions& options)
      : summary_(summary),
        style_{options.colour},
        width_(std::max(options.width, kNarrowestTerminal)) {
    for (const SummaryRow& row : summary.rows) {
      names_ = std::max(names_, std::min(kWidestName, columns(printable(row.name))));
      numbers_ = std::max(numbers_, columns(number(row)));
      for (const SummaryPoint& point : row.points) reach_ = std::max(reach_, std::abs(point.score));
    }
    const int rest = width_ - 2 - names_ - 2 - 2 - numbers_;
    bar_ = std::min(kWidestBar, rest);
    if (summary.is_signed && reach_ > 0 && rest - 2 - 8 >= kNarrowestSpread) {
      bar_ = std::clamp(rest / 3, 8, kWidestBar);
      spread_ = std::min(kWidestSpread, rest - 2 - bar_);
      spread_ -= spread_ % 2 == 0 ? 1 : 0;  // zero has a column of its own in the middle
    }
  }

  std::string write() const {
    std::string out = style_.bold(shortened(summary_title(summary_), width_)) + "\n" +
                      style_.faint(shortened(summary_facts(summary_), width_)) + "\n\n";
    for (const SummaryRow& row : summary_.rows) out += line(row) + "\n";
    if (spread_ > 0) out += style_.faint(axis()) + "\n";
    if (has_cut_bar(summary_)) out += style_.faint("  The last bar is cut.") + "\n";
    for (const std::string& note : summary_.notes) {
      for (const std::string& part : wrapped_sentence(note, width_))
        out += style_.faint(part) + "\n";
    }
    return out;
  }

 private:
  std::string number(const SummaryRow& row) const {
    return format_bar(bar_value(summary_, row), largest_bar(summary_));
  }

  std::string line(const SummaryRow& row) const {
    const double largest = largest_bar(summary_);
    const double share = largest > 0 ? std::min(1.0, bar_value(summary_, row) / largest) : 0;
    std::string line = fmt::format(
        "  {}  {}  {}", right_aligned(shortened(printable(row.name), names_), names_),
        style_.bar(share, bar_, ScoreKind::kMagnitude), right_aligned(number(row), numbers_));
    if (spread_ > 0) line += "  " + spread(row);
    return line;
  }

  // How many points fall into each column, from the least to the largest score of all rows.
  std::string spread(const SummaryRow& row) const {
    std::vector<int> counts(static_cast<size_t>(spread_), 0);
    const int middle = spread_ / 2;
    for (const SummaryPoint& point : row.points) {
      ++counts[static_cast<size_t>(middle +
                                   static_cast<int>(std::lround(point.score / reach_ * middle)))];
    }
    const int most = *std::max_element(counts.begin(), counts.end());
    std::string line;
    for (int i = 0; i < spread_; ++i) {
      const int count = counts[static_cast<size_t>(i)];
      if (count == 0) {
        line += i == middle ? style_.faint("│") : " ";
        continue;
      }
      const std::string mark = heat_mark(std::max(0.15, static_cast<double>(count) / most));
      line += i == middle ? mark : coloured(mark, i - middle);
    }
    return line;
  }

  std::string coloured(const std::string& mark, int side) const {
    if (!style_.colour) return mark;
    const Colour paint = mix(hue(kLightPalette, side, ScoreKind::kSigned),
                             hue(kDarkPalette, side, ScoreKind::kSigned), 0.5);
    return fmt::format("\x1b[38;5;{}m{}\x1b[0m", xterm_colour(paint), mark);
  }

  std::string axis() const {
    const std::string low = format_bar(-reach_, reach_), high = format_bar(reach_, reach_);
    const int middle = spread_ / 2;
    return std::string(static_cast<size_t>(2 + names_ + 2 + bar_ + 2 + numbers_ + 2), ' ') + low +
           right_aligned("0", middle + 1 - columns(low)) +
           right_aligned(high, spread_ - middle - 1);
  }

  const Summary& summary_;
  TerminalStyle style_;
  int width_ = 0, names_ = 0, numbers_ = 0, bar_ = 0, spread_ = 0;
  double reach_ = 0;  // largest |score|
};

}  // namespace
}  // namespace report

std::string to_terminal(const Summary& summary, const TerminalOptions& options) {
  return report::SummaryText(summary, options).write();
}

}  // namespace whyformer
