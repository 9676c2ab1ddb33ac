// Bars and colours for terminals: 256-colour codes, or none.
#pragma once

#include <string>
#include <string_view>

#include "report/views/palette.h"

namespace whyformer::report {

struct TerminalStyle {
  bool colour = true;

  std::string bold(std::string_view text) const;
  std::string faint(std::string_view text) const;

  // Text on a background whose saturation tells |strength|; its middling lightness stands out on
  // dark and on light terminals alike. Weak strengths stay plain.
  std::string heat(std::string_view text, double strength, ScoreKind kind) const;

  // A bar of `width` columns, padded with blanks. Negative strengths are orange, or hatched where
  // there is no colour.
  std::string bar(double strength, int width, ScoreKind kind) const;
};

// One column of a heat line below plain text: "▁" to "█" for positive strengths, "░▒▓" for
// negative.
std::string heat_mark(double strength);

}  // namespace whyformer::report
