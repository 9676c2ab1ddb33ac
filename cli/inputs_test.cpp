// What the program takes for an input, and what it says where something else was meant.
#include <nlohmann/json.hpp>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Inputs : public CommandLine {
 protected:
  // The texts of JSON lines.
  static std::vector<std::string> texts_in(const std::string& lines) {
    std::vector<std::string> texts;
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);)
      texts.push_back(nlohmann::json::parse(line)["text"].get<std::string>());
    return texts;
  }
};

TEST_F(Inputs, AFileOfLabelledTextsIsReadWithoutItsLabels) {
  write("texts.tsv", "sentence\tlabel\na warm film\t1\n\ndull and flat\tnegative\r\n");
  write("texts.txt", read("texts.tsv"));
  write("bare.tsv", "a warm film\t1\ndull and flat\t0\n");
  for (const char* file : {"texts.tsv", "texts.txt", "bare.tsv"}) {
    const CommandResult answer = run("explain --method rollout --file " + path(file));
    EXPECT_EQ(answer.code, 0) << answer.error;
    EXPECT_THAT(texts_in(answer.out), ElementsAre("a warm film", "dull and flat")) << file;
    const CommandResult importance =
        run("importance --method leave-one-out --json - --file " + path(file));
    EXPECT_EQ(importance.code, 0) << importance.error;
    EXPECT_THAT(importance.out, HasSubstr("flat"));
    EXPECT_THAT(importance.out, Not(HasSubstr("sentence"))) << file;
    EXPECT_THAT(importance.out, Not(HasSubstr("negative"))) << file;
  }
}

TEST_F(Inputs, ATabInAnyOtherFileBelongsToTheText) {
  write("texts.txt", "a warm\tfilm\n");
  EXPECT_THAT(texts_in(run("explain --method rollout --file " + path("texts.txt")).out),
              ElementsAre("a warm\tfilm"));
}

TEST_F(Inputs, AByteOrderMarkIsNoPartOfTheFirstText) {
  write("texts.txt",
        "\xEF\xBB\xBF"
        "a warm film\ndull\n");
  EXPECT_THAT(texts_in(run("explain --method rollout --file " + path("texts.txt")).out),
              ElementsAre("a warm film", "dull"));
}

TEST_F(Inputs, WordsWithoutQuotesAreExplained) {
  expect_refusal("explain good bad film",
                 "'bad film' was not expected: put a text of several words in quotes");
  expect_refusal("tokenize good bad", "put a text of several words in quotes");
}

TEST_F(Inputs, ANameOfAFileThatIsNotThereIsATextWithANote) {
  for (const std::string name : {"./nosuch.txt", "photo.tiff", "rows.CSV", "no/such"}) {
    const CommandResult answer = run("explain --method rollout " + name);
    EXPECT_EQ(answer.code, 0) << answer.error;
    EXPECT_THAT(answer.error,
                HasSubstr("note: '" + name + "' is not a file; it is read as a text"));
  }
  for (const std::string text : {"good", "'good and/or bad'", "4.5", "fine.", "--text ./x.txt"}) {
    EXPECT_EQ(run("explain --method rollout " + text).error, "") << text;
  }
}

TEST_F(Inputs, AnEmptySecondTextIsRefused) {
  expect_refusal("explain good --pair '' --method rollout", "the second text is empty");
}

TEST_F(Inputs, NothingAtAllShowsTheHelp) {
  const CommandResult answer = run("");
  EXPECT_EQ(answer.code, 2);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.out, run("--help").out);
}

TEST_F(Inputs, LimitsOfOptionsAreCheckedAtTheStart) {
  for (const char* method : {"kernel-shap", "lime"}) {
    for (const char* samples : {"20000000", "-3"}) {
      expect_refusal(
          std::string("explain good --method ") + method + " -o " + method + ".samples=" + samples,
          "up to 4194304");
    }
  }
}

TEST_F(Inputs, HelpPromisesWhatACommandDoes) {
  EXPECT_THAT(run("tokenize --help").out, Not(HasSubstr("picture")));
  EXPECT_THAT(run("heads --help").out, Not(HasSubstr("default:\n")));
  EXPECT_THAT(run("heads --help").out, HasSubstr("[michel"));
}

TEST_F(Inputs, AVocabularyThatIsNotTheModelsIsRefused) {
  std::filesystem::copy(WHYFORMER_SOURCE_DIR "/models/sentiment", folder_ / "model");
  auto config = nlohmann::json::parse(read("model/config.json"));
  config["vocab_size"] = 7;
  write("model/config.json", config.dump());
  expect_refusal("explain x --model " + path("model"),
                 "'vocab_size' is 7, but the table of word embeddings has 8192 rows");
}

TEST_F(Inputs, BuiltInModelsHaveTheNamesThatReportsGiveThem) {
  for (const std::string arguments : {"explain good --method gae --json -", "inspect --json"}) {
    const auto named = nlohmann::json::parse(run(arguments + " --model sentiment").out);
    EXPECT_EQ(named["model"]["name"], "sentiment") << arguments;
  }
  EXPECT_EQ(run("tokenize 'good film' --model sentiment").out, run("tokenize 'good film'").out);
  const CommandResult row = run("explain --row 17 --method gae --json - --model income");
  EXPECT_EQ(row.code, 0) << row.error;
  EXPECT_EQ(run("explain good --model pictures").code, 2) << "it reads pictures";
  expect_refusal("explain good --model sentimental", "sentimental");
}

}  // namespace
}  // namespace whyformer::cli
