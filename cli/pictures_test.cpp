// Pictures: explained, drawn and refused.
#include <nlohmann/json.hpp>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;

TEST_F(CommandLine, ExplainsAPictureWithNoModelGiven) {
  const std::string picture = WHYFORMER_SOURCE_DIR "/tests/data/pictures/pairs/pair-000.png";
  const CommandResult answer = run("explain " + picture + " --top 2 --html " + path("a.html") +
                                   " --png " + path("a.png") + " --json " + path("a.json"));
  EXPECT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("row "));
  std::ifstream lines(path("a.json"));
  std::string line;
  int explanations = 0;
  while (std::getline(lines, line)) {
    const nlohmann::json json = nlohmann::json::parse(line);
    EXPECT_EQ(json["units"].size(), json["attributions"][0]["scores"].size());
    EXPECT_EQ(json["picture"]["patches"]["rows"], 12);
    ++explanations;
  }
  EXPECT_EQ(explanations, 2);
  EXPECT_GT(std::filesystem::file_size(path("a.png")), 10000);
  EXPECT_GT(std::filesystem::file_size(path("a.html")), 100000);
}

TEST_F(CommandLine, ExplainsAPictureWithAText) {
  const std::string golden = WHYFORMER_SOURCE_DIR "/tests/golden/pairs";
  const std::string pair = "explain " + golden + "/picture.png --pair 'a cat' ";
  const CommandResult answer =
      run(pair + "--method gae,shap --json " + path("a.json") + " --html " + path("a.html") +
          " --svg " + path("a.svg") + " --model " + golden + "/model");
  EXPECT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("Explained a cat"));
  const auto json = nlohmann::json::parse(read("a.json"));
  EXPECT_EQ(json["pair"], "a cat");
  EXPECT_EQ(json["units"].size(), 4u + 1 + 9);
  EXPECT_THAT(read("a.html"), HasSubstr("text_side"));
  EXPECT_THAT(read("a.svg"), HasSubstr(">cat<"));
  expect_refusal(pair, "does not compare pictures with texts");
  expect_refusal(pair + "--among 'a dog' --model " + golden + "/model", "leave out --among");
  expect_refusal("trace" + pair.substr(7) + "--save x --model " + golden + "/model",
                 "give the picture alone");
}

TEST_F(CommandLine, BadPicturesGetOneClearLine) {
  write("empty.png", "");
  write("text.jpg", "not a picture");
  write("cut.png", std::string("\x89PNG\r\n\x1a\n", 8));
  expect_refusal("explain " + path("no.png"), "No such file");
  expect_refusal("explain " + path("empty.png"), "is empty");
  expect_refusal("explain " + path("text.jpg"), "no picture that can be read");
  expect_refusal("explain " + path("cut.png"), "cannot be decoded as PNG");
  const std::string picture = WHYFORMER_SOURCE_DIR "/tests/data/pictures/pairs/pair-000.png";
  expect_refusal("explain " + picture + " --target cat", "there is no target 'cat'");
  expect_refusal("explain " + picture + " --model " WHYFORMER_SOURCE_DIR "/models/sentiment",
                 "reads texts, not pictures");
  expect_refusal("explain " + picture + " --among 'a cat'", "does not compare pictures with texts");
  expect_refusal("explain x --top 2", "--top and --among go with a picture");
}

TEST_F(CommandLine, OneHeadOfOneLayerIsDrawn) {
  const std::string picture = WHYFORMER_SOURCE_DIR "/tests/data/pictures/objects/object-000.png";
  for (const std::string& input : {std::string("'so bad it is good'"), picture}) {
    const CommandResult answer = run("explain " + input + " --method rollout --attention-svg " +
                                     path("head.svg") + " --attention-layer 1 --attention-head 0");
    ASSERT_EQ(answer.code, 0) << answer.error;
    EXPECT_THAT(read("head.svg"), HasSubstr("layer 1, head 0"));
    expect_refusal(
        "explain " + input +
            " --method rollout --attention-layer 1 --attention-head 99 --attention-svg " +
            path("x.svg"),
        "there is no head 99");
    expect_refusal("explain " + input + " --method rollout --attention-head 1 --attention-svg " +
                       path("x.svg"),
                   "--attention-layer");
  }
  expect_refusal("explain good --method rollout --attention-layer 1",
                 "--attention-svg or --attention-png");
}

}  // namespace
}  // namespace whyformer::cli
