#include "formats/conllu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/golden_weights.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::HasSubstr;

// "1 form head relation misc" with blanks, as ten columns.
std::string conllu_line(const std::string& id, const std::string& form, const std::string& head,
                        const std::string& relation, const std::string& misc = "_") {
  return id + "\t" + form + "\t_\t_\t_\t_\t" + head + "\t" + relation + "\t_\t" + misc + "\n";
}

std::string conllu_message(const std::string& text) {
  return message_of<InvalidInput>([&] { parse_conllu(text); });
}

TEST(Conllu, FindsWordsInTheTextByCodePoints) {
  const auto sentences = parse_conllu("# sent_id = 1\n" + conllu_line("1", "Größe", "2", "nsubj") +
                                      conllu_line("2", "zählt", "0", "root", "SpaceAfter=No") +
                                      conllu_line("3", ".", "2", "punct") + "\n\r\n" +
                                      conllu_line("1", "Ja", "0", "root"));
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
      parse_conllu(conllu_line("1", "I", "3", "nsubj") + conllu_line("2-3", "don't", "_", "_") +
                   conllu_line("2", "do", "3", "aux") + conllu_line("3", "n't", "0", "root") +
                   conllu_line("4", "know", "3", "x"));
  EXPECT_EQ(sentences[0].text, "I don't know");
  EXPECT_EQ(sentences[0].words[1].start, 2);
  EXPECT_EQ(sentences[0].words[1].end, 4);
  EXPECT_EQ(sentences[0].words[2].end, 7);
  EXPECT_EQ(sentences[0].words[3].start, 8);
}

TEST(Conllu, WordsThatDoNotSpellTheirMultiwordTokenAreNotWritten) {
  const auto sentences = parse_conllu(
      conllu_line("1", "près", "0", "root") + conllu_line("2-3", "du", "_", "_", "SpaceAfter=No") +
      conllu_line("2", "d", "1", "case") + conllu_line("3", "le", "1", "det") +
      conllu_line("4", ",", "1", "punct"));
  EXPECT_EQ(sentences[0].text, "près du,");
  EXPECT_FALSE(sentences[0].words[1].is_written());
  EXPECT_FALSE(sentences[0].words[2].is_written());
  EXPECT_EQ(sentences[0].words[3].start, 7);
  EXPECT_TRUE(sentences[0].words[0].is_written());
}

TEST(Conllu, LeavesEmptyNodesOut) {
  const auto sentences =
      parse_conllu(conllu_line("1", "a", "0", "root") + conllu_line("1.1", "gap", "_", "_") +
                   conllu_line("2", "b", "1", "dep"));
  EXPECT_EQ(sentences[0].text, "a b");
  EXPECT_EQ(sentences[0].words.size(), 2u);
}

TEST(Conllu, ReadsNoMoreThanTheLimit) {
  const std::string one = conllu_line("1", "a", "0", "root") + "\n";
  EXPECT_EQ(parse_conllu(one + one + one, 2).size(), 2u);
  EXPECT_EQ(parse_conllu(one + "broken", 1).size(), 1u);
}

TEST(Conllu, BrokenLinesAreNamed) {
  EXPECT_THAT(conllu_message("1\ta\n"), HasSubstr("line 1: CoNLL-U has 10 columns"));
  EXPECT_THAT(conllu_message("\n" + conllu_line("2", "a", "0", "root")),
              HasSubstr("line 2: expected the word 1"));
  EXPECT_THAT(conllu_message(conllu_line("x", "a", "0", "root")),
              HasSubstr("ID 'x': expected a number"));
  EXPECT_THAT(conllu_message(conllu_line("1", "a", "-3", "root")), HasSubstr("HEAD '-3'"));
  EXPECT_THAT(conllu_message(conllu_line("1", "a", "7", "dep")),
              HasSubstr("line 1: the head 7 is no word"));
  EXPECT_THAT(conllu_message(conllu_line("1", "a", "1", "dep")), HasSubstr("its own head"));
  EXPECT_THAT(conllu_message(conllu_line("1", "", "0", "root")), HasSubstr("no form"));
  EXPECT_THAT(
      conllu_message(conllu_line("1-2", "ab", "_", "_") + conllu_line("1", "a", "0", "root")),
      HasSubstr("ends before word 2"));
  EXPECT_THAT(conllu_message(conllu_line("3-4", "ab", "_", "_")), HasSubstr("in front of word 1"));
  EXPECT_THAT(conllu_message(conllu_line("99999999999", "a", "0", "root")),
              HasSubstr("expected a number"));
}

}  // namespace
}  // namespace whyformer
