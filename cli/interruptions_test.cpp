// What is done when Ctrl-C or a kill comes stays, and is said to be a part.
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "command_line_fixture.h"
#include "running_program.h"

namespace whyformer::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

class Interruptions : public CommandLine {
 protected:
  static constexpr size_t kTexts = 400;

  void SetUp() override {
    CommandLine::SetUp();
    std::string lines;
    for (size_t i = 0; i < kTexts; ++i) {
      lines += "the story is thin and the jokes are stale, number " + std::to_string(i) + "\n";
    }
    write("texts.txt", lines);
  }

  void wait_for_lines(const std::string& file, int64_t count) const {
    const auto give_up = Clock::now() + std::chrono::minutes(5);
    while (std::ranges::count(read(file), '\n') < count && Clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  std::vector<std::string> evaluation() const {
    return {"evaluate",    "--method",        "gae",    "--metric",         "deletion",
            "--file",      path("texts.txt"), "--keep", path("kept.jsonl"), "--json",
            path("e.json")};
  }
};

TEST_F(Interruptions, AnEvaluationThatIsEndedGoesOnWhereItWas) {
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    std::filesystem::remove(path("kept.jsonl"));
    std::filesystem::remove(path("e.json"));
    Running program(evaluation());
    wait_for_lines("kept.jsonl", 4);
    program.send(signal);
    EXPECT_EQ(program.end(), 128 + signal);
    const std::string kept = read("kept.jsonl");
    ASSERT_FALSE(kept.empty());
    EXPECT_EQ(kept.back(), '\n');
    if (signal == SIGKILL) continue;
    const json part = json::parse(read("e.json"));
    EXPECT_EQ(part["inputs"].size() + 1, static_cast<size_t>(std::ranges::count(kept, '\n')));
    EXPECT_THAT(part["notes"].dump(), HasSubstr("Interrupted after"));
  }
  const std::string arguments =
      "evaluate --method gae --metric deletion --file " + path("texts.txt") + " --json ";
  const CommandResult rest = run(arguments + path("rest.json") + " --keep " + path("kept.jsonl"));
  ASSERT_EQ(rest.code, 0) << rest.error;
  EXPECT_THAT(rest.error, HasSubstr("inputs kept"));
  const json whole = json::parse(run(arguments + "-").out), on = json::parse(read("rest.json"));
  EXPECT_EQ(on["inputs"].size(), kTexts);
  EXPECT_EQ(on["methods"][0]["cells"], whole["methods"][0]["cells"]);
}

TEST_F(Interruptions, EveryModelOfASpreadHasSeenAllInputs) {
  for (int milliseconds = 300; milliseconds <= 1500; milliseconds += 300) {
    std::filesystem::remove(path("a.json"));
    Running program({"agree", "--model", "sentiment", "--model", "sentiment", "--method",
                     "gae,rollout", "--file", path("texts.txt"), "--json", path("a.json")});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    program.send(SIGINT);
    const int code = program.end();
    EXPECT_TRUE(code == 130 || code == 0) << code;
    const std::string text = read("a.json");
    if (text.empty()) continue;  // before the first input
    const json found = json::parse(text);
    if (found["schema"] == "whyformer.agreement/1") {
      EXPECT_THAT(found["notes"].dump(), HasSubstr("Interrupted after"));
      continue;
    }
    for (const json& model : found["models"]) EXPECT_EQ(model["inputs"], kTexts);
  }
}

TEST_F(Interruptions, ASanityCheckTellsWhatIsDone) {
  for (const int milliseconds : {400, 1500}) {
    std::filesystem::remove(path("s.json"));
    Running program({"sanity", "--method", "rollout,gradient-x-input", "--no-card", "--file",
                     path("texts.txt"), "--json", path("s.json")});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    program.send(SIGINT);
    EXPECT_EQ(program.end(), 130);
    const std::string text = read("s.json");
    if (!text.empty()) {
      EXPECT_TRUE(json::parse(text)["stopped_early"].get<bool>());
    }
  }
}

}  // namespace
}  // namespace whyformer::cli
