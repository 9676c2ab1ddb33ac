// whyformer sanity.
#include <nlohmann/json.hpp>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;

constexpr const char* kTexts =
    "I cannot wait for next time\nThis is so boring\na warm and funny film\n"
    "the plot makes no sense at all\nthe acting is good but it is long\n";

TEST_F(CommandLine, SanityChecksMethodsOverTextsAndKeepsACard) {
  write("texts.txt", kTexts);
  const std::string cache = "XDG_CACHE_HOME=" + path("cache");
  const CommandResult answer =
      run("sanity --file " + path("texts.txt") +
              " --method rollout,gradient-x-input --cascading-only --json " + path("sanity.json"),
          cache);
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("Cannot see the class"));
  EXPECT_THAT(answer.out, HasSubstr("all weights"));
  const auto json = nlohmann::json::parse(read("sanity.json"));
  EXPECT_EQ(json["schema"], "whyformer.sanity/1");
  EXPECT_EQ(json["inputs"], 5);
  EXPECT_EQ(json["methods"][0]["depends_on_class"], "no");
  const std::string card =
      read("cache/whyformer/sanity/" + json["hash"].get<std::string>() + ".json");
  EXPECT_EQ(nlohmann::json::parse(card), json);
}

TEST_F(CommandLine, SanityWithoutACardLeavesTheCacheAlone) {
  write("texts.txt", kTexts);
  const CommandResult answer =
      run("sanity --file " + path("texts.txt") +
              " --method rollout --examples 1 --cascading-only --no-card --json -",
          "XDG_CACHE_HOME=" + path("cache"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_EQ(nlohmann::json::parse(answer.out)["inputs"], 1);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cache"));
}

TEST_F(CommandLine, SanityRefusesWhatItCannotCheck) {
  write("texts.txt", kTexts);
  expect_refusal("sanity", "no inputs");
  expect_refusal("sanity --file " + path("texts.txt") + " --method rollout,rollout",
                 "asked for twice");
  expect_refusal("sanity --file " + path("texts.txt") + " --method gae -o rollout.start=1",
                 "with a method of --method");
  expect_refusal("sanity --file " + path("texts.txt") + " --method nothing", "nothing");
}

}  // namespace
}  // namespace whyformer::cli
