#include "readers/tokenizers/characters.h"

#include <gtest/gtest.h>

namespace whyformer::tokenization {
namespace {

TEST(Characters, ReadsSequencesOfOneToFourBytes) {
  const std::string_view text = "a\u00e9\u4e2d\U0001F600";
  size_t position = 0;
  EXPECT_EQ(next_character(text, position), U'a');
  EXPECT_EQ(next_character(text, position), U'\u00e9');
  EXPECT_EQ(next_character(text, position), U'\u4e2d');
  EXPECT_EQ(next_character(text, position), U'\U0001F600');
  EXPECT_EQ(position, text.size());
}

TEST(Characters, WritesWhatItReads) {
  for (const char32_t c :
       {U'\0', U'a', U'\u07ff', U'\u0800', U'\uffff', U'\U00010000', U'\U0010ffff'}) {
    std::string text;
    append_utf8(text, c);
    size_t position = 0;
    EXPECT_EQ(next_character(text, position), c);
    EXPECT_EQ(text.size(), utf8_length_of(c));
  }
}

TEST(Characters, ReplacesEachIllFormedSequenceByOneCharacter) {
  // A lone continuation byte, a cut-off sequence, an encoded surrogate (three bytes, each its own
  // error), 0xFF.
  const CleanText clean = replace_ill_formed_utf8(
      "a\x80"
      "b\xe4\xb8"
      "c\xed\xa0\x80"
      "d\xff");
  EXPECT_EQ(clean.text,
            "a\ufffd"
            "b\ufffd"
            "c\ufffd\ufffd\ufffd"
            "d\ufffd");
  EXPECT_EQ(clean.replaced, 6);
  EXPECT_TRUE(is_well_formed_utf8(clean.text));
}

TEST(Characters, LeavesWellFormedTextAlone) {
  const CleanText clean = replace_ill_formed_utf8("\u4e2d\U0001F600");
  EXPECT_EQ(clean.text, "\u4e2d\U0001F600");
  EXPECT_EQ(clean.replaced, 0);
}

TEST(Characters, KnowsTheVersionOfUnicodeThatEachClassIsTakenFrom) {
  EXPECT_TRUE(is_punctuation(0x166D)) << "punctuation in Unicode 8, a symbol since 12";
  EXPECT_FALSE(is_punctuation(0x2E4F)) << "assigned in Unicode 12";
  EXPECT_TRUE(is_nonspacing_mark(0x0301));
  EXPECT_FALSE(is_nonspacing_mark(0x1DF6)) << "assigned in Unicode 10";
  EXPECT_TRUE(is_letter(0x1C89)) << "assigned in Unicode 16, which ICU 72 does not know";
  EXPECT_EQ(to_lower(0x1C89), char32_t{0x1C8A});
}

TEST(Characters, TreatsAsciiSymbolsAsPunctuation) {
  for (const char c : std::string_view("$+<=>^`|~"))
    EXPECT_TRUE(is_punctuation(static_cast<char32_t>(c))) << c;
  EXPECT_FALSE(is_punctuation(0x20AC)) << "the euro sign is a symbol";
}

TEST(Characters, LowersOneCharacterAtATime) {
  EXPECT_EQ(to_lower(U'A'), U'a');
  EXPECT_EQ(to_lower(0x03A3), char32_t{0x03C3}) << "sigma never becomes a final one";
  EXPECT_EQ(to_lower(0x1E9E), char32_t{0x00DF});
  EXPECT_EQ(to_lower(0x00DF), char32_t{0x00DF});
}

}  // namespace
}  // namespace whyformer::tokenization
