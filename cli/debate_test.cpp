// whyformer debate.
#include <nlohmann/json.hpp>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kLabelled =
    "a warm and funny film\tpositive\nthis is so boring\tnegative\n"
    "the plot makes no sense at all\tnegative\n";
constexpr const char* kShort =
    " --steps 3 --permutations 5 --layer-permutations 2 --guide uniform,attention";

TEST_F(CommandLine, DebatesBothSidesAndWritesEveryReport) {
  write("texts.tsv", kLabelled);
  const CommandResult answer =
      run("debate --file " + path("texts.tsv") + kShort + " --json " + path("debate.json") +
          " --html " + path("debate.html") + " --svg " + path("debate.svg"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("Is attention explanation?"));
  EXPECT_THAT(answer.out, HasSubstr("Not shown:"));
  EXPECT_THAT(answer.out, HasSubstr("give 30 inputs"));
  const auto json = nlohmann::json::parse(read("debate.json"));
  EXPECT_EQ(json["schema"], "whyformer.debate/1");
  EXPECT_EQ(json["inputs"].size(), 3u);
  EXPECT_EQ(json["uniform"][0]["accuracy_before"], 1.0);
  EXPECT_THAT(read("debate.html"), HasSubstr("How different could attention be"));
  EXPECT_THAT(read("debate.svg"), HasSubstr("adversarial"));
}

TEST_F(CommandLine, ADebateGoesOnFromWhatItKept) {
  write("texts.tsv", kLabelled);
  const std::string command = "debate --part uniform,permutation --file " + path("texts.tsv") +
                              kShort + " --keep " + path("kept") + " --json -";
  ASSERT_EQ(run(command + " --examples 2").code, 0);
  const std::string two = read("kept");
  EXPECT_EQ(std::ranges::count(two, '\n'), 3);  // the question and two inputs
  const CommandResult all = run(command);
  ASSERT_EQ(all.code, 0) << all.error;
  EXPECT_EQ(read("kept").substr(0, two.size()), two);
  EXPECT_EQ(nlohmann::json::parse(all.out)["inputs"].size(), 3u);
  // Other texts under the same names are looked at anew.
  write("texts.tsv", "so good it is bad\tnegative\n");
  const CommandResult other = run(command);
  ASSERT_EQ(other.code, 0) << other.error;
  const std::string alone =
      "debate --part uniform,permutation --file " + path("texts.tsv") + kShort + " --json -";
  EXPECT_EQ(nlohmann::json::parse(other.out)["uniform"],
            nlohmann::json::parse(run(alone).out)["uniform"]);
  expect_refusal(command + " --seed 1", "keeps the inputs of another debate");
}

TEST_F(CommandLine, OneModelTwiceHasNoSpreadOverSeeds) {
  write("texts.tsv", kLabelled);
  const std::string model = WHYFORMER_SOURCE_DIR "/models/sentiment";
  const CommandResult answer = run("debate --part seeds --model " + model + " --model " + model +
                                   " --file " + path("texts.tsv") + " --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_EQ(nlohmann::json::parse(answer.out)["median_jsd_of_models"]["mean"], 0);
}

TEST_F(CommandLine, DebateRefusesWhatHasNoMeaning) {
  write("texts.tsv", kLabelled);
  expect_refusal("debate", "no inputs");
  expect_refusal("debate --part all --file " + path("texts.tsv"), "no part 'all'");
  expect_refusal("debate --scope head --file " + path("texts.tsv"), "no adversarial search");
  expect_refusal("debate --labels --file " + path("texts.tsv"), "no effect");
}

}  // namespace
}  // namespace whyformer::cli
