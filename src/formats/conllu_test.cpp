#include "formats/conllu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden_weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

// "1 form head relation misc" with blanks, as ten columns.
std::string line_of(const std::string& id, const std::string& form, const std::string& head,
                    const std::string& relation, const std::string& misc = "_") {
  return id + "\t" + form + "\t_\t_\t_\t_\t" + head + "\t" + relation + "\t_\t" + misc + "\n";
}

std::string message(const std::string& text) {
  return message_of<InvalidInput>([&] { parse_conllu(text); });
}

TEST(Conllu, FindsWordsInTheTextByCodePoints) {
  const auto sentences =
      parse_conllu("# sent_id = 1\n" + line_of("1", "Größe", "2", "nsubj") +
                   line_of("2", "zählt", "0", "root", "SpaceAfter=No") +
                   line_of("3", ".", "2", "punct") + "\n\r\n" + line_of("1", "Ja", "0", "root"));
  ASSERT_EQ(sentences.size(), 2u);
  EXPECT_EQ(sentences[0].text, "Größe zählt.");
  EXPECT_EQ(sentences[0].line, 2);
  EXPECT_EQ(sentences[1].line, 7);
  const DependencyTree& words = sentences[0].words;
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[1].start, 6);
  EXPECT_EQ(words[1].end, 11);
  EXPECT_EQ(words[2].start, 11);
  EXPECT_EQ(words[0].head, 1);
  EXPECT_EQ(words[1].head, -1);
  EXPECT_EQ(words[2].relation, "punct");
}

TEST(Conllu, WordsShareAMultiwordTokenOutWhereTheySpellIt) {
  const auto sentences =
      parse_conllu(line_of("1", "I", "3", "nsubj") + line_of("2-3", "don't", "_", "_") +
                   line_of("2", "do", "3", "aux") + line_of("3", "n't", "0", "root") +
                   line_of("4", "know", "3", "x"));
  EXPECT_EQ(sentences[0].text, "I don't know");
  EXPECT_EQ(sentences[0].words[1].start, 2);
  EXPECT_EQ(sentences[0].words[1].end, 4);
  EXPECT_EQ(sentences[0].words[2].end, 7);
  EXPECT_EQ(sentences[0].words[3].start, 8);
}

TEST(Conllu, WordsThatDoNotSpellTheirMultiwordTokenAreNotWritten) {
  const auto sentences = parse_conllu(
      line_of("1", "près", "0", "root") + line_of("2-3", "du", "_", "_", "SpaceAfter=No") +
      line_of("2", "d", "1", "case") + line_of("3", "le", "1", "det") +
      line_of("4", ",", "1", "punct"));
  EXPECT_EQ(sentences[0].text, "près du,");
  EXPECT_FALSE(sentences[0].words[1].is_written());
  EXPECT_FALSE(sentences[0].words[2].is_written());
  EXPECT_EQ(sentences[0].words[3].start, 7);
  EXPECT_TRUE(sentences[0].words[0].is_written());
}

TEST(Conllu, LeavesEmptyNodesOut) {
  const auto sentences =
      parse_conllu(line_of("1", "a", "0", "root") + line_of("1.1", "gap", "_", "_") +
                   line_of("2", "b", "1", "dep"));
  EXPECT_EQ(sentences[0].text, "a b");
  EXPECT_EQ(sentences[0].words.size(), 2u);
}

TEST(Conllu, ReadsNoMoreThanTheLimit) {
  const std::string one = line_of("1", "a", "0", "root") + "\n";
  EXPECT_EQ(parse_conllu(one + one + one, 2).size(), 2u);
  EXPECT_EQ(parse_conllu(one + "broken", 1).size(), 1u);
}

TEST(Conllu, BrokenLinesAreNamed) {
  EXPECT_THAT(message("1\ta\n"), HasSubstr("line 1: CoNLL-U has 10 columns"));
  EXPECT_THAT(message("\n" + line_of("2", "a", "0", "root")),
              HasSubstr("line 2: expected the word 1"));
  EXPECT_THAT(message(line_of("x", "a", "0", "root")), HasSubstr("ID 'x': expected a number"));
  EXPECT_THAT(message(line_of("1", "a", "-3", "root")), HasSubstr("HEAD '-3'"));
  EXPECT_THAT(message(line_of("1", "a", "7", "dep")), HasSubstr("line 1: the head 7 is no word"));
  EXPECT_THAT(message(line_of("1", "a", "1", "dep")), HasSubstr("its own head"));
  EXPECT_THAT(message(line_of("1", "", "0", "root")), HasSubstr("no form"));
  EXPECT_THAT(message(line_of("1-2", "ab", "_", "_") + line_of("1", "a", "0", "root")),
              HasSubstr("ends before word 2"));
  EXPECT_THAT(message(line_of("3-4", "ab", "_", "_")), HasSubstr("in front of word 1"));
  EXPECT_THAT(message(line_of("99999999999", "a", "0", "root")), HasSubstr("expected a number"));
}

}  // namespace
}  // namespace whyformer
