#include "report/views/palette.h"

#include <gtest/gtest.h>

#include <cmath>

namespace whyformer::report {
namespace {

double lightness(Colour c) { return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue; }

TEST(Palette, AttentionRampsChangeLightnessInOneDirection) {
  for (int i = 1; i <= 100; ++i) {
    EXPECT_LT(lightness(attention_colour(kLightPalette, i / 100.0)),
              lightness(attention_colour(kLightPalette, (i - 1) / 100.0)));
    EXPECT_GT(lightness(attention_colour(kDarkPalette, i / 100.0)),
              lightness(attention_colour(kDarkPalette, (i - 1) / 100.0)));
  }
}

TEST(Palette, AttentionShareIsTheSquareRoot) {
  EXPECT_DOUBLE_EQ(attention_share(0.25, 1), 0.5);
  EXPECT_EQ(attention_share(0.5, 0), 0);
  EXPECT_EQ(attention_share(-1, 1), 0);
}

TEST(Palette, InkIsChosenForItsBackground) {
  EXPECT_EQ(readable_on(kLightPalette, kLightPalette.positive), kLightPalette.paper);
  EXPECT_EQ(readable_on(kLightPalette, {230, 240, 250}), kLightPalette.ink);
}

TEST(Palette, TerminalColoursAreTheNearestOfTheCube) {
  EXPECT_EQ(xterm_colour({255, 0, 0}), 196);
  EXPECT_EQ(xterm_colour({0, 95, 175}), 25);
  EXPECT_EQ(xterm_colour({129, 128, 127}), 244);
}

TEST(Palette, SignsHaveDifferentColours) {
  EXPECT_EQ(hue(kLightPalette, -1, ScoreKind::kMagnitude), kLightPalette.negative);
  EXPECT_NE(hue(kLightPalette, 1, ScoreKind::kSigned),
            hue(kLightPalette, 1, ScoreKind::kMagnitude));
}

}  // namespace
}  // namespace whyformer::report
