// The colours of all reports. Blue against orange and purple alone stay apart for every common kind
// of colour blindness; lightness alone carries the attention ramps.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace whyformer::report {

struct Colour {
  uint8_t red, green, blue;
  bool operator==(const Colour&) const = default;
};

// What scores and maps are painted with, on one kind of paper.
struct Palette {
  Colour paper, ink, faint_ink, grid;
  Colour positive;                  // evidence for the target, at full strength
  Colour negative;                  // evidence against it
  Colour magnitude;                 // scores of methods without a sign
  std::array<Colour, 6> attention;  // from nothing to the largest weight, evenly spaced
};

extern const Palette kLightPalette;
extern const Palette kDarkPalette;

enum class ScoreKind { kSigned, kMagnitude };

// The full-strength colour of a score; a stray negative score of an unsigned method shows as such.
Colour hue(const Palette& palette, double score, ScoreKind kind);

Colour mix(Colour from, Colour to, double share);
Colour attention_colour(const Palette& palette, double share);

// Where a weight stands on the ramp: its square root, since attention spreads over many small ones.
double attention_share(double weight, double top);

// What a strength within [-1, 1] (unsigned: [0, 1]) is painted with on a picture without colours of
// its own, and how opaque: what is weak leaves the picture as it is.
Colour overlay_colour(double strength, ScoreKind kind);
double overlay_opacity(double strength);  // |strength| to this power
constexpr double kOverlayPower = 0.75;

// Ink that can be read on the background: the palette's own or its paper.
Colour readable_on(const Palette& palette, Colour background);

std::string css(Colour colour);   // "#0072b2"
int xterm_colour(Colour colour);  // the nearest of the 216 cube and 24 grey colours of a terminal

// Terminal backgrounds of growing saturation on which white text is readable. Picked by hand: the
// nearest cube colours of a computed ramp would repeat and jump.
constexpr int kTerminalLevels = 5;
int terminal_background(double score, ScoreKind kind, int level);  // level 1 to kTerminalLevels

}  // namespace whyformer::report
