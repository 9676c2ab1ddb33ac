#include "readers/tokenizers/token_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

#include "whyformer/error.h"

namespace whyformer::tokenization {
namespace {

using testing::ElementsAre;

Vocabulary vocabulary_of(std::initializer_list<std::string_view> tokens) {
  Vocabulary vocabulary;
  for (const std::string_view token : tokens) vocabulary.append(token);
  return vocabulary;
}

StringPool merges_of(std::initializer_list<std::string_view> halves) {
  StringPool merges;
  for (const std::string_view half : halves) merges.add(half);
  return merges;
}

std::vector<ModelToken> tokenized(const TokenModel& model, std::string_view word) {
  std::vector<ModelToken> tokens;
  model.tokenize(word, tokens);
  return tokens;
}

TEST(Vocabulary, FindsTokensBothWays) {
  Vocabulary vocabulary;
  for (int i = 0; i < 1000; ++i) vocabulary.set("token" + std::to_string(i), 3 * (999 - i));
  vocabulary.seal();
  EXPECT_EQ(vocabulary.find("token999"), 0);
  EXPECT_EQ(vocabulary.find("token0"), 2997);
  EXPECT_EQ(vocabulary.find("token1000"), std::nullopt);
  EXPECT_EQ(vocabulary.token_of(0), "token999");
  EXPECT_EQ(vocabulary.token_of(2997), "token0");
  EXPECT_EQ(vocabulary.token_of(1), std::nullopt);
  EXPECT_EQ(vocabulary.token_of(-1), std::nullopt);
}

TEST(Vocabulary, GivesARepeatedTokenItsLastId) {
  Vocabulary set;
  set.set("a", 1);
  set.set("a", 5);
  EXPECT_EQ(set.find("a"), 5);
  EXPECT_EQ(set.size(), 1u);
  const Vocabulary list = vocabulary_of({"a", "b", "a"});
  EXPECT_EQ(list.find("a"), 2);
  EXPECT_EQ(list.size(), 3u);
}

TEST(WordPiece, TakesTheLongestPieceEachTime) {
  const auto model =
      word_piece_model(vocabulary_of({"[UNK]", "un", "una", "##aff", "##able", "##ffable"}), {});
  EXPECT_THAT(tokenized(*model, "unaffable"),
              ElementsAre(ModelToken{2, 0, 3}, ModelToken{5, 3, 9}));
}

TEST(WordPiece, GivesUpOnTheWholeWord) {
  const auto model = word_piece_model(vocabulary_of({"[UNK]", "a", "##b"}), {});
  EXPECT_THAT(tokenized(*model, "abz"), ElementsAre(ModelToken{0, 0, 3}));
  EXPECT_THAT(tokenized(*model, "a" + std::string(100, 'b')), ElementsAre(ModelToken{0, 0, 101}))
      << "over 100 characters";
  EXPECT_EQ(tokenized(*model, "a" + std::string(99, 'b')).size(), 100u);
}

TEST(WordPiece, SaysThatTheUnknownTokenIsMissing) {
  EXPECT_THROW(tokenized(*word_piece_model(vocabulary_of({"a"}), {}), "b"), InvalidInput);
}

TEST(WordLevel, KnowsWordsOrDoesNot) {
  const auto model = word_level_model(vocabulary_of({"<unk>", "yes"}), "<unk>");
  EXPECT_THAT(tokenized(*model, "yes"), ElementsAre(ModelToken{1, 0, 3}));
  EXPECT_THAT(tokenized(*model, "no"), ElementsAre(ModelToken{0, 0, 2}));
}

TEST(Bpe, MergesTheMostUrgentPairFirst) {
  // "b c" outranks "a b", so "abc" is a + bc although "ab" would come first from the left.
  const auto model = bpe_model(vocabulary_of({"a", "b", "c", "bc", "ab"}),
                               merges_of({"b", "c", "a", "b"}), {}, "t");
  EXPECT_THAT(tokenized(*model, "abc"), ElementsAre(ModelToken{0, 0, 1}, ModelToken{3, 1, 3}));
  EXPECT_THAT(tokenized(*model, "ab"), ElementsAre(ModelToken{4, 0, 2}));
}

TEST(Bpe, FusesUnknownCharactersIfAskedTo) {
  const auto apart = bpe_model(vocabulary_of({"<unk>", "a"}), {}, {.unk_token = "<unk>"}, "t");
  EXPECT_THAT(tokenized(*apart, "xya"),
              ElementsAre(ModelToken{0, 0, 1}, ModelToken{0, 1, 2}, ModelToken{1, 2, 3}));
  const auto fused =
      bpe_model(vocabulary_of({"<unk>", "a"}), {}, {.unk_token = "<unk>", .fuse_unk = true}, "t");
  EXPECT_THAT(tokenized(*fused, "xya"), ElementsAre(ModelToken{0, 0, 2}, ModelToken{1, 2, 3}));
}

TEST(Bpe, DropsUnknownCharactersWithoutAnUnknownToken) {
  EXPECT_THAT(tokenized(*bpe_model(vocabulary_of({"a"}), {}, {}, "t"), "xa"),
              ElementsAre(ModelToken{0, 0, 1}));
}

TEST(Bpe, FallsBackToBytes) {
  const auto model = bpe_model(vocabulary_of({"<unk>", "<0xC3>", "<0xA9>"}), {},
                               {.unk_token = "<unk>", .byte_fallback = true}, "t");
  EXPECT_THAT(tokenized(*model, "\u00e9"), ElementsAre(ModelToken{1, 0, 1}, ModelToken{2, 1, 2}));
  EXPECT_THAT(tokenized(*model, "\u00e8"), ElementsAre(ModelToken{0, 0, 2}))
      << "only if all bytes are there";
}

TEST(Bpe, MarksTheMiddleAndTheEndOfWords) {
  const auto model =
      bpe_model(vocabulary_of({"a", "##b", "##c</w>", "a</w>", "ab"}), merges_of({"a", "##b"}),
                {.continuing_subword_prefix = "##", .end_of_word_suffix = "</w>"}, "t");
  EXPECT_THAT(tokenized(*model, "abc"), ElementsAre(ModelToken{4, 0, 2}, ModelToken{2, 2, 3}));
  EXPECT_THAT(tokenized(*model, "a"), ElementsAre(ModelToken{3, 0, 1}));
}

TEST(Bpe, TakesAWholeWordOfTheVocabularyIfMergesAreIgnored) {
  const auto model = bpe_model(vocabulary_of({"a", "b", "ab"}), {}, {.ignore_merges = true}, "t");
  EXPECT_THAT(tokenized(*model, "ab"), ElementsAre(ModelToken{2, 0, 2}));
}

TEST(Bpe, RefusesMergesOfAnotherVocabulary) {
  EXPECT_THROW(bpe_model(vocabulary_of({"a", "b"}), merges_of({"a", "b"}), {}, "t"), FileError);
  EXPECT_THROW(bpe_model(vocabulary_of({"a"}), merges_of({"a", "z"}), {}, "t"), FileError);
}

TEST(Bpe, ReadsAWordOfAMillionCharacters) {
  const auto model =
      bpe_model(vocabulary_of({"a", "aa", "aaaa"}), merges_of({"a", "a", "aa", "aa"}), {}, "t");
  EXPECT_EQ(tokenized(*model, std::string(1'000'000, 'a')).size(), 250'000u);
}

TEST(Unigram, FindsTheMostProbableTokens) {
  const auto model =
      unigram_model(vocabulary_of({"<unk>", "a", "b", "c", "d", "cd", "ab", "abc", "abcd"}),
                    {0, 0, 0, 0, 0, 1, 2, 5, 10}, {.unk_id = 0}, "t");
  EXPECT_THAT(tokenized(*model, "abcdacdxx"),
              ElementsAre(ModelToken{8, 0, 4}, ModelToken{1, 4, 5}, ModelToken{5, 5, 7},
                          ModelToken{0, 7, 9}));
}

TEST(Unigram, FallsBackToBytesThatShareTheirPlace) {
  const auto model = unigram_model(vocabulary_of({"<unk>", "a", "<0xC3>", "<0xA9>"}),
                                   {0, -1, -9, -9}, {.unk_id = 0, .byte_fallback = true}, "t");
  EXPECT_THAT(tokenized(*model, "a\u00e9"),
              ElementsAre(ModelToken{1, 0, 1}, ModelToken{2, 1, 3}, ModelToken{3, 1, 3}));
}

TEST(Unigram, NeedsAnUnknownTokenOnlyForUnknownCharacters) {
  const auto model = unigram_model(vocabulary_of({"a"}), {0}, {}, "t");
  EXPECT_EQ(tokenized(*model, "aa").size(), 2u);
  EXPECT_THROW(tokenized(*model, "b"), InvalidInput);
}

TEST(Unigram, RefusesABrokenVocabulary) {
  EXPECT_THROW(unigram_model(vocabulary_of({"a"}), {0}, {.unk_id = 1}, "t"), FileError);
  EXPECT_THROW(unigram_model(vocabulary_of({"a"}), {0, 0}, {}, "t"), FileError);
  EXPECT_THROW(unigram_model(vocabulary_of({"a"}), {std::nan("")}, {}, "t"), FileError);
}

TEST(Unigram, ReadsAWordOfAMillionCharacters) {
  const auto model =
      unigram_model(vocabulary_of({"<unk>", "a", "aaaa"}), {0, -2, -3}, {.unk_id = 0}, "t");
  EXPECT_EQ(tokenized(*model, std::string(1'000'000, 'a')).size(), 250'000u);
}

}  // namespace
}  // namespace whyformer::tokenization
