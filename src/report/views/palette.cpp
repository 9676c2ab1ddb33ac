#include "report/views/palette.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace whyformer::report {

const Palette kLightPalette{.paper = {255, 255, 255},
                            .ink = {27, 31, 42},
                            .faint_ink = {94, 102, 120},
                            .grid = {222, 226, 234},
                            .positive = {0, 99, 178},
                            .negative = {206, 84, 0},
                            .magnitude = {109, 60, 161},
                            .attention = {{{252, 253, 250},
                                           {206, 235, 197},
                                           {123, 204, 196},
                                           {43, 140, 190},
                                           {12, 75, 150},
                                           {8, 29, 88}}}};

const Palette kDarkPalette{.paper = {22, 25, 33},
                           .ink = {232, 235, 241},
                           .faint_ink = {158, 167, 184},
                           .grid = {52, 58, 72},
                           .positive = {86, 180, 255},
                           .negative = {255, 150, 56},
                           .magnitude = {190, 144, 250},
                           .attention = {{{26, 29, 38},
                                          {49, 54, 114},
                                          {44, 106, 142},
                                          {45, 160, 134},
                                          {142, 209, 79},
                                          {253, 240, 140}}}};

Colour hue(const Palette& palette, double score, ScoreKind kind) {
  if (score < 0) return palette.negative;
  return kind == ScoreKind::kSigned ? palette.positive : palette.magnitude;
}

Colour mix(Colour from, Colour to, double share) {
  const auto channel = [share](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + (b - a) * std::clamp(share, 0.0, 1.0)));
  };
  return {channel(from.red, to.red), channel(from.green, to.green), channel(from.blue, to.blue)};
}

Colour attention_colour(const Palette& palette, double share) {
  const double position = std::clamp(share, 0.0, 1.0) * (palette.attention.size() - 1);
  const size_t below = std::min(static_cast<size_t>(position), palette.attention.size() - 2);
  return mix(palette.attention[below], palette.attention[below + 1], position - below);
}

Colour overlay_colour(double strength, ScoreKind kind) {
  if (kind == ScoreKind::kMagnitude) {
    // The dark ramp ends in a light yellow that grey pictures do not have; its first stop is paper.
    constexpr double kFirst = 0.2;
    return attention_colour(kDarkPalette, kFirst + (1 - kFirst) * strength);
  }
  return mix(hue(kLightPalette, strength, kind), hue(kDarkPalette, strength, kind), 0.5);
}

double overlay_opacity(double strength) {
  return std::pow(std::min(1.0, std::abs(strength)), kOverlayPower);
}

double attention_share(double weight, double top) {
  return top > 0 && weight > 0 ? std::sqrt(std::min(1.0, weight / top)) : 0;
}

namespace {

// Relative luminance, WCAG 2.
double luminance(Colour colour) {
  const auto linear = [](uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) + 0.0722 * linear(colour.blue);
}

double contrast(Colour a, Colour b) {
  const double high = std::max(luminance(a), luminance(b));
  const double low = std::min(luminance(a), luminance(b));
  return (high + 0.05) / (low + 0.05);
}

int distance(Colour a, Colour b) {
  const int red = a.red - b.red, green = a.green - b.green, blue = a.blue - b.blue;
  return red * red + green * green + blue * blue;
}

}  // namespace

Colour readable_on(const Palette& palette, Colour background) {
  return contrast(palette.ink, background) >= contrast(palette.paper, background) ? palette.ink
                                                                                  : palette.paper;
}

std::string css(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

int xterm_colour(Colour colour) {
  constexpr std::array<uint8_t, 6> kLevels{0, 95, 135, 175, 215, 255};
  int best = 16;
  int best_distance = distance(colour, {0, 0, 0});
  const auto consider = [&](int code, Colour candidate) {
    if (distance(colour, candidate) >= best_distance) return;
    best = code;
    best_distance = distance(colour, candidate);
  };
  for (int code = 0; code < 216; ++code) {
    consider(16 + code, {kLevels[code / 36], kLevels[code / 6 % 6], kLevels[code % 6]});
  }
  for (int grey = 0; grey < 24; ++grey) {
    const auto level = static_cast<uint8_t>(8 + 10 * grey);
    consider(232 + grey, {level, level, level});
  }
  return best;
}

int terminal_background(double score, ScoreKind kind, int level) {
  constexpr std::array<int, kTerminalLevels> kPositive{60, 24, 25, 26, 27};
  constexpr std::array<int, kTerminalLevels> kNegative{95, 94, 130, 166, 202};
  constexpr std::array<int, kTerminalLevels> kMagnitude{60, 97, 91, 92, 93};
  const auto step = static_cast<size_t>(std::clamp(level, 1, kTerminalLevels) - 1);
  if (score < 0) return kNegative[step];
  return kind == ScoreKind::kSigned ? kPositive[step] : kMagnitude[step];
}

}  // namespace whyformer::report
