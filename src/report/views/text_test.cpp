#include "report/views/text.h"

#include <gtest/gtest.h>

namespace whyformer::report {
namespace {

TEST(Text, SlicesCountCodePointsNotBytes) {
  const CodePointText text("né爱👩x");
  EXPECT_EQ(text.size(), 5);
  EXPECT_EQ(text.slice(1, 4), "é爱👩");
  EXPECT_EQ(text.slice(3, 99), "👩x");
  EXPECT_EQ(text.slice(4, 2), "");
}

TEST(Text, WidthFollowsWhatATerminalDraws) {
  EXPECT_EQ(columns("film"), 4);
  EXPECT_EQ(columns("电影"), 4);
  EXPECT_EQ(columns("e\u0301"), 1);
  EXPECT_EQ(columns("👩‍👩‍👧"), 2);
  EXPECT_EQ(columns("🇫🇷"), 2);
  EXPECT_EQ(columns("❤️"), 2);
  EXPECT_EQ(columns("ｶ"), 1);  // half-width katakana
}

TEST(Text, NothingThatSteersATerminalSurvivesPrintable) {
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
  EXPECT_EQ(printable("\u202egnp.exe"), "\\u{202e}gnp.exe");
  EXPECT_EQ(printable("\u009b31m"), "\\x9b31m");
  EXPECT_EQ(printable("👩‍👩‍👧 שלום"), "👩‍👩‍👧 שלום");
}

TEST(Text, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(valid_utf8("a\xff\xc3"), "a\ufffd\ufffd");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // an encoded surrogate
}

TEST(Text, ShorteningNeverSplitsACharacterOrExceedsTheLimit) {
  EXPECT_EQ(shortened("unbearably", 5), "unbe…");
  EXPECT_EQ(shortened("电影电影", 6), "电影…");
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(columns(right_aligned("爱", 6)), 6);
}

}  // namespace
}  // namespace whyformer::report
