#include "readers/tokenizers/aligned_text.h"

#include <gtest/gtest.h>

namespace whyformer::tokenization {
namespace {

Span original(const AlignedText& text, size_t begin, size_t end) {
  return text.original(begin, end).value();
}

TEST(AlignedText, StartsAsItself) {
  const AlignedText text("a\u00e9b");
  EXPECT_EQ(original(text, 0, 1), (Span{0, 1}));
  EXPECT_EQ(original(text, 1, 2), (Span{1, 3})) << "part of a character stands for all of it";
  EXPECT_EQ(original(text, 3, 4), (Span{3, 4}));
}

TEST(AlignedText, ForgetsNothingWhenCharactersAreRemoved) {
  AlignedText text("a-b-c");
  text.filter([](char32_t c) { return c != '-'; });
  EXPECT_EQ(text.text(), "abc");
  EXPECT_EQ(original(text, 0, 1), (Span{0, 1}));
  EXPECT_EQ(original(text, 1, 2), (Span{2, 3}));
  EXPECT_EQ(original(text, 2, 3), (Span{4, 5}));
}

TEST(AlignedText, SkipsCharactersRemovedAtTheStart) {
  AlignedText text("--ab");
  text.filter([](char32_t c) { return c != '-'; });
  EXPECT_EQ(original(text, 0, 1), (Span{2, 3}));
}

TEST(AlignedText, GivesInsertedCharactersThePlaceOfTheOneBefore) {
  AlignedText text("xy");
  const std::vector<CharacterChange> changes{{U'x', 0}, {U'1', 1}, {U'2', 1}, {U'y', 0}};
  text.transform(changes, 0);
  EXPECT_EQ(text.text(), "x12y");
  EXPECT_EQ(original(text, 1, 3), (Span{0, 1}));
  EXPECT_EQ(original(text, 3, 4), (Span{1, 2}));
}

TEST(AlignedText, GivesAPrefixThePlaceOfTheFirstCharacter) {
  AlignedText text("\u00e9a");
  text.prepend("\u2581");
  EXPECT_EQ(text.text(), "\u2581\u00e9a");
  EXPECT_EQ(original(text, 0, 3), (Span{0, 2}));
  EXPECT_EQ(original(text, 3, 5), (Span{0, 2}));
}

TEST(AlignedText, DoesNotPrependToNothing) {
  AlignedText text("");
  text.prepend("x");
  EXPECT_TRUE(text.empty());
}

TEST(AlignedText, GivesAReplacementTheEndOfWhatItReplaces) {
  AlignedText text("a``b");
  const std::vector<Match> matches{{0, 1, false}, {1, 3, true}, {3, 4, false}};
  text.replace(matches, "\"");
  EXPECT_EQ(text.text(), "a\"b");
  EXPECT_EQ(original(text, 1, 2), (Span{2, 3}));
  EXPECT_EQ(original(text, 2, 3), (Span{3, 4}));
}

TEST(AlignedText, KeepsPlacesInSlicesOfSlices) {
  const AlignedText text("one two three");
  const AlignedText slice = text.slice(4, 13).slice(4, 9);
  EXPECT_EQ(slice.text(), "three");
  EXPECT_EQ(slice.original_begin(), 8u);
  EXPECT_EQ(original(slice, 0, 5), (Span{8, 13}));
}

TEST(AlignedText, StripsBothEnds) {
  AlignedText text("  ab ");
  text.strip(2, 1);
  EXPECT_EQ(text.text(), "ab");
  EXPECT_EQ(original(text, 0, 2), (Span{2, 4}));
}

TEST(AlignedText, HasNoPlaceBeyondItsEnd) {
  EXPECT_FALSE(AlignedText("ab").original(0, 3).has_value());
}

}  // namespace
}  // namespace whyformer::tokenization
