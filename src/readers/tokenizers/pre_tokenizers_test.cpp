#include "readers/tokenizers/pre_tokenizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "readers/tokenizers/byte_level.h"
#include "readers/tokenizers/text_pattern.h"

namespace whyformer::tokenization {
namespace {

using testing::ElementsAre;
using Words = std::vector<std::string>;

Words split_with(const PreTokenizer& pre_tokenizer, std::string_view text) {
  std::vector<Piece> pieces{{AlignedText(text), std::nullopt}};
  pre_tokenizer(pieces);
  Words words;
  for (const Piece& piece : pieces) words.push_back(piece.text.text());
  return words;
}

Words split_with(std::string_view json, std::string_view text) {
  return split_with(read_pre_tokenizer(parse_json(json, "test.json"), "test.json"), text);
}

TEST(Split, TreatsDelimitersAsTheBehaviorSays) {
  const auto countdown = [](std::string_view behavior) {
    return split_with(
        fmt::format(
            R"({{"type": "Split", "pattern": {{"String": "-"}}, "behavior": "{}", "invert": false}})",
            behavior),
        "the-final--countdown");
  };
  EXPECT_THAT(countdown("Removed"), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(countdown("Isolated"), ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(countdown("MergedWithPrevious"), ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(countdown("MergedWithNext"), ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(countdown("Contiguous"), ElementsAre("the", "-", "final", "--", "countdown"));
}

TEST(Split, InvertedKeepsTheMatches) {
  EXPECT_THAT(
      split_with(
          R"({"type": "Split", "pattern": {"Regex": "\\w+"}, "behavior": "Removed", "invert": true})",
          "hey, you!"),
      ElementsAre("hey", "you"));
}

TEST(PreTokenizers, BertSplitsAtSpacesAndAroundPunctuation) {
  EXPECT_THAT(split_with(bert_pre_tokenizer(), "don't  stop\u00a0now\u3002"),
              ElementsAre("don", "'", "t", "stop", "now", "\u3002"));
}

TEST(PreTokenizers, WhitespaceKeepsRunsOfWordCharactersAndOfOthers) {
  EXPECT_THAT(split_with(R"({"type": "Whitespace"})", "a_1 ?! b"), ElementsAre("a_1", "?!", "b"));
}

TEST(PreTokenizers, DigitsTogetherOrOneByOne) {
  EXPECT_THAT(split_with(R"({"type": "Digits", "individual_digits": true})", "a12b"),
              ElementsAre("a", "1", "2", "b"));
  EXPECT_THAT(split_with(R"({"type": "Digits", "individual_digits": false})", "a12b"),
              ElementsAre("a", "12", "b"));
}

TEST(PreTokenizers, MetaspaceMarksTheStartOfWords) {
  EXPECT_THAT(split_with(metaspace({}), "a  b"), ElementsAre("\u2581a", "\u2581", "\u2581b"));
  EXPECT_THAT(split_with(metaspace({.prepend_scheme = PrependScheme::kNever}), "a b"),
              ElementsAre("a", "\u2581b"));
  EXPECT_THAT(split_with(metaspace({.split = false}), "a b"), ElementsAre("\u2581a\u2581b"));
}

TEST(PreTokenizers, MetaspaceReadsTheOldFlag) {
  EXPECT_THAT(
      split_with(R"({"type": "Metaspace", "replacement": "_", "add_prefix_space": false})", "a b"),
      ElementsAre("a", "_b"));
}

TEST(PreTokenizers, CharDelimiterSplit) {
  EXPECT_THAT(split_with(R"({"type": "CharDelimiterSplit", "delimiter": ";"})", "a;;b"),
              ElementsAre("a", "b"));
}

TEST(PreTokenizers, LeaveAddedTokensAlone) {
  std::vector<Piece> pieces{{AlignedText("a b"), 7}};
  bert_pre_tokenizer()(pieces);
  ASSERT_EQ(pieces.size(), 1u);
  EXPECT_EQ(pieces[0].text.text(), "a b");
}

TEST(ByteLevel, TurnsBytesIntoPrintableCharacters) {
  EXPECT_THAT(split_with(byte_level({.add_prefix_space = true}), "a\u00e9\n"),
              ElementsAre("\u0120a\u00c3\u00a9", "\u010a"));
}

TEST(ByteLevel, SplitsLikeTheExpressionOfGpt2) {
  const auto pattern = regex_pattern(
      "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", "t");
  for (const std::string_view text :
       {"I'll say 'so' 3 times!!  ok \n\n  end  ", "''s x's 'sx", " \t a", "a\u00a0b", "   ",
        "12ab!?", "don't\u3000\u4e2d\u65871\u00bd \U0001F600"}) {
    EXPECT_EQ(find_gpt2_words(text), pattern->find(text)) << text;
  }
}

TEST(TextPattern, EmptyMatchesDoNotFollowAMatch) {
  EXPECT_THAT(regex_pattern("x*", "t")->find("ax"),
              ElementsAre(Match{0, 0, true}, Match{0, 1, false}, Match{1, 2, true}));
}

TEST(TextPattern, RefusesWhatItCannotCompile) {
  EXPECT_THROW(regex_pattern("(", "t"), UnsupportedModel);
  EXPECT_THROW(regex_pattern(std::string(5000, 'a'), "t"), UnsupportedModel);
}

TEST(TextPattern, GivesUpOnAnExpressionThatTakesForever) {
  EXPECT_THROW(regex_pattern("(a+)+$", "t")->find(std::string(40, 'a') + "b"), InvalidInput);
}

}  // namespace
}  // namespace whyformer::tokenization
