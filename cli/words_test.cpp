// Words of the command line that are missing, misspelled or in each other's way.
#include <vector>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Words : public CommandLine {};

// What an unset variable of the shell gives.
TEST_F(Words, AnEmptyNameIsNotAnOptionThatWasLeftOut) {
  write("texts", "good\n");
  for (const std::string& command : std::vector<std::string>{
           "explain x --model ''", "explain x -m ''", "explain x --model=", "tokenize x --model ''",
           "inspect ''", "inspect --model ''", "heads " + path("texts") + " --model ''",
           "trace x --save t --model ''", "importance --file " + path("texts") + " --model ''",
           "explain --picture ''", "explain --file ''", "explain x --json ''",
           "explain x --html ''", "explain --table ''", "explain --inputs ''", "heads ''",
           "trace x --save ''"}) {
    const CommandResult answer = run(command);
    EXPECT_EQ(answer.code, 2) << command;
    EXPECT_EQ(answer.out, "") << command;
    EXPECT_THAT(answer.error, testing::AnyOf(HasSubstr("name is empty"), HasSubstr("required")))
        << command;
  }
  EXPECT_THAT(run("explain x --method gae --pair ''").error, HasSubstr("the second text is empty"));
}

TEST_F(Words, AMisspelledCommandOrOptionIsToldTheNearest) {
  expect_refusal("explian x", "there is no command 'explian' (did you mean 'explain'?)");
  expect_refusal("tokenise x", "did you mean 'tokenize'?");
  expect_refusal("frobnicate",
                 "there is no command 'frobnicate'; there are explain, evaluate, agree, heads");
  expect_refusal("explain x --methd gae",
                 "'whyformer explain' has no option '--methd' (did you mean '--method'?)");
  expect_refusal("explain x --jsno=out.json", "did you mean '--json'?");
}

TEST_F(Words, ATextMayLookLikeAnOption) {
  for (const char* before : {"", "--method gae ", "--method gae -o gae.start=0 ", "--target 0 "}) {
    for (const char* words : {"--text", "-m", "--help", "--"}) {
      const CommandResult answer = run(std::string("explain --json - ") + before + "-- " + words);
      EXPECT_EQ(answer.code, 0) << before << words << answer.error;
      EXPECT_THAT(answer.out, HasSubstr(std::string("\"text\": \"") + words + "\""))
          << before << words;
    }
  }
}

TEST_F(Words, OptionsInFrontOfATextLeaveItAlone) {
  for (const char* before :
       {"--method gae", "--method gae,rollout", "--target 0", "--method gae -o gae.start=0"}) {
    const CommandResult answer = run(std::string("explain --json - ") + before + " 'good film'");
    EXPECT_EQ(answer.code, 0) << before << answer.error;
    EXPECT_THAT(answer.out, HasSubstr("\"text\": \"good film\"")) << before;
  }
  expect_refusal("inspect --shape x=1,2 " WHYFORMER_SOURCE_DIR "/models/sentiment",
                 "apply to ONNX files only");
  expect_refusal("inspect --shape x=1,2", "--shape and --batch-axis are for ONNX files");
  expect_refusal("explain --method gae rollout",
                 "'rollout' is a method: separate methods by commas");
}

TEST_F(Words, OutputsMustNotOverwriteEachOtherOrTheInput) {
  write("texts", "good\n");
  std::filesystem::create_symlink("a", folder_ / "link");
  expect_refusal("explain x --method gae --html " + path("a") + " --json " + path("a"),
                 "two outputs go to the file");
  expect_refusal("explain x --method gae --svg " + path("a") + " --png " + path("./a"),
                 "two outputs go to the file");
  expect_refusal("explain x --method gae --svg " + path("a") + " --png " + path("link"),
                 "two outputs go to the file");
  expect_refusal("explain --method gae --file " + path("texts") + " --json " + path("texts"),
                 "would overwrite what is read");
  expect_refusal("heads " + path("texts") + " --json " + path("texts"),
                 "would overwrite what is read");
  expect_refusal("inspect --svg " + path("a") + " --html " + path("a"),
                 "two outputs go to the file");
  expect_refusal("explain x --method gae --html not-there.x --json ./not-there.x",
                 "two outputs go to the file");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
  EXPECT_EQ(read("texts"), "good\n");
  EXPECT_EQ(run("explain x --method gae --svg /dev/null --png /dev/null").code, 0);
  expect_refusal("explain x --method gae --html -", "only JSON is written to standard output");
}

TEST_F(Words, ABrokenConfigurationIsToldWithItsPlace) {
  std::filesystem::copy(WHYFORMER_SOURCE_DIR "/models/sentiment", folder_ / "model");
  write("model/config.json", "{\n  \"model_type\": \"bert\",\n  \"hidden_size\" 6\n}\n");
  expect_refusal("explain x --model " + path("model"),
                 "'config.json' is not valid JSON (line 3, column 17)");
  EXPECT_THAT(run("explain x --model " + path("model")).error, Not(HasSubstr("json.exception")));
  write("model/config.json", "{");
  expect_refusal("explain x --model " + path("model"), "it ends too early");
  write("model/config.json", "");
  expect_refusal("explain x --model " + path("model"), "it is empty");
}

TEST_F(Words, AModelInAnotherFormatIsNamedAsSuch) {
  write("model.gguf", "GGUF....");
  for (const char* command :
       {"explain x --model ", "inspect ", "inspect --model ", "trace x --save t --model "}) {
    expect_refusal(command + path("model.gguf"), "model.gguf' is a GGUF file");
  }
}

TEST_F(Words, TextsThatWereCutAreSaidByImportance) {
  std::string long_text;
  for (int i = 0; i < 600; ++i) long_text += "good ";
  write("texts", "fine\n" + long_text + "\n" + long_text + "bad\n");
  EXPECT_THAT(run("importance --method gae --file " + path("texts")).out,
              HasSubstr("2 of 3 inputs: The text is longer than the model reads"));
  EXPECT_THAT(run("importance --method gae --json - --file " + path("texts")).out,
              HasSubstr("\"2 of 3 inputs: The text is longer"));
}

}  // namespace
}  // namespace whyformer::cli
