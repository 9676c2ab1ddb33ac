// whyformer patch.
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "command_line_fixture.h"
#include "running_program.h"

namespace whyformer::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using PatchingProgram = CommandLine;

constexpr const char* kPair =
    "patch --clean \"a truly wonderful film\" --corrupted \"a truly terrible film\" ";

TEST_F(PatchingProgram, DrawsHeatMapsInEveryForm) {
  const CommandResult answer =
      run(std::string(kPair) + "--kind residual,heads --html " + path("p.html") + " --svg " +
          path("p.svg") + " --png " + path("p.png") + " --json " + path("p.json"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("Activation patching of"));
  EXPECT_THAT(answer.out, HasSubstr("Strongest: "));
  const json found = json::parse(read("p.json"));
  EXPECT_EQ(found["schema"], "whyformer.patch/1");
  EXPECT_EQ(found["grids"][0]["kind"], "residual");
  EXPECT_NEAR(found["grids"][0]["effects"][0][3].get<double>(), 1, 1e-4);
  EXPECT_THAT(read("p.html"), HasSubstr("<svg"));
  EXPECT_THAT(read("p.html"), HasSubstr("terrible"));
  EXPECT_THAT(read("p.svg"), HasSubstr("terrible"));
  EXPECT_EQ(read("p.png").substr(1, 3), "PNG");
}

TEST_F(PatchingProgram, LooksInOtherWays) {
  for (const std::string way :
       {"--clean \"a fine film\" --lens", "--clean \"a fine film\" --ablate zero",
        "--clean \"a fine film\" --ablate mean --metric probability",
        "--clean \"a fine film\" --noise 2 --draws 3 --window 3 --kind mlp",
        "--clean \"a fine film\" --corrupted \"a poor film\" --path query:2.1",
        "--clean \"a fine film\" --corrupted \"a poor film\" --path output --against negative"}) {
    const CommandResult answer = run("patch --json - " + way);
    ASSERT_EQ(answer.code, 0) << way << answer.error;
    EXPECT_EQ(json::parse(answer.out)["schema"], "whyformer.patch/1") << way;
  }
}

TEST_F(PatchingProgram, RefusesWhatHasNoMeaningAndWhatWouldBeIgnored) {
  const std::string one = "patch --clean \"a fine film\" ", pair = kPair;
  expect_refusal(one, "--corrupted");
  expect_refusal(one + "--lens --ablate zero", "choose one");
  expect_refusal(one + "--lens --corrupted x", "one input");
  expect_refusal(one + "--lens --kind mlp", "--kind is about patching");
  expect_refusal(one + "--lens --exact 10", "--exact is about patching between two inputs");
  expect_refusal(one + "--noise 2 --no-preview", "--no-preview is about");
  expect_refusal(pair + "--draws 3", "--draws goes with --noise");
  expect_refusal(pair + "--seed 3", "--seed goes with --noise");
  expect_refusal(pair + "--kind streams", "choose from residual");
  expect_refusal(pair + "--path query", "receiving layer");
  expect_refusal(pair + "--path query:x", "query:5.2");
  expect_refusal(pair + "--target film", "film");
  expect_refusal(one + "--noise 99", "no token 99");
  expect_refusal(one + "--corrupted \"\"", "empty");
}

TEST_F(PatchingProgram, ThatIsStoppedSaysWhatThereIs) {
  Running program({"patch", "--clean", "a fine film that is long enough to take a while", "--noise",
                   "2", "--draws", "1000000", "--json", path("p.json")});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  const auto asked = std::chrono::steady_clock::now();
  program.send(SIGINT);
  EXPECT_EQ(program.end(), 130);
  EXPECT_LT(std::chrono::steady_clock::now() - asked, std::chrono::seconds(5));
  const json found = json::parse(read("p.json"));
  EXPECT_TRUE(found["stopped_early"].get<bool>());
  EXPECT_GT(found["cost"]["forwards"].get<int>(), 100);
}

}  // namespace
}  // namespace whyformer::cli
