// whyformer probe, whyformer explain --edit.
#include <nlohmann/json.hpp>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using Probing = CommandLine;

TEST_F(Probing, ListsValuesThatAPatternNames) {
  const CommandResult all = run("probe --list"), blocks = run("probe --list \"blocks.*.output\"");
  ASSERT_EQ(all.code, 0) << all.error;
  EXPECT_THAT(all.out, HasSubstr("blocks.3.attention.pattern"));
  EXPECT_EQ(std::count(blocks.out.begin(), blocks.out.end(), '\n'), 4);
  EXPECT_THAT(blocks.out, HasSubstr("blocks.0.output  [batch 1, token 3, feature"));
  // An input of another length.
  EXPECT_THAT(run("probe \"a fine film\" --list \"words\"").out, HasSubstr("token 5"));
  expect_refusal("probe --list layers", "no value 'layers'");
  expect_refusal("probe --list --read words", "--list shows the names alone");
}

TEST_F(Probing, TakesTheModelInFrontOfTheText) {
  const std::string asked = " 'a fine film' --read 'blocks.*.output token=0' --json -";
  const std::string named = run("probe --model sentiment" + asked).out;
  EXPECT_EQ(run("probe sentiment" + asked).out, named);
  EXPECT_NE(named, "");
  // Alone it is a model where there is nothing to read but names, or the input is a row.
  EXPECT_EQ(run("probe income --list").out, run("probe --model income --list").out);
  EXPECT_EQ(run("probe income --row 3 --read logits").out, run("probe --row 3 --read logits").out);
  EXPECT_EQ(run("probe sentiment --read logits").out, run("probe -t sentiment --read logits").out);
  expect_refusal("probe income 'a film' --row 3 --read logits", "or a row; not both");
  expect_refusal("probe sentiment 'a film' --model sentiment --read logits",
                 "the model is given twice");
}

TEST_F(Probing, ReadsWhatIsAskedFor) {
  const CommandResult answer =
      run("probe \"a fine film\" --read \"blocks.*.output token=0 reduce=norm\" --read logits "
          "--gradient words --relevance embeddings --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const json recording = json::parse(answer.out);
  EXPECT_EQ(recording["schema"], "whyformer.recording/1");
  EXPECT_EQ(recording["values"].size(), 7U);
  EXPECT_EQ(recording["values"][0]["name"], "blocks.0.output.norm");
  EXPECT_EQ(recording["values"][4]["numbers"], recording["output"]["values"]);
  const CommandResult shown = run("probe \"a fine film\" --read logits");
  EXPECT_THAT(shown.out, HasSubstr("logits  [batch 1, feature 2]"));
}

TEST_F(Probing, ChangesValuesAsItIsTold) {
  const auto output = [&](const std::string& arguments) {
    const CommandResult answer = run("probe \"a fine film\" --read logits --json - " + arguments);
    EXPECT_EQ(answer.code, 0) << answer.error;
    return json::parse(answer.out)["output"]["values"];
  };
  const json own = output("");
  EXPECT_NE(output("--edit \"zero blocks.3.attention.context head=2\""), own);
  EXPECT_EQ(output("--edit \"scale blocks.3.attention.context 1\""), own);
  // Everything that leaves a layer makes the other sentence's answer.
  EXPECT_EQ(
      output("--other \"a poor film\" --edit \"copy other.blocks.2.output\""),
      json::parse(run("probe \"a poor film\" --read logits --json -").out)["output"]["values"]);
  const json word = output("--other \"a poor film\" --edit \"copy other.blocks.0.output token=2\"");
  EXPECT_NE(word, own);
  write("edits.json",
        R"([{"op": "zero", "value": "blocks.3.attention.context", "at": {"head": [2]}}])");
  EXPECT_EQ(output("--edits " + path("edits.json")),
            output("--edit \"zero blocks.3.attention.context head=2\""));
}

TEST_F(Probing, RefusesWrongNamesPlacesAndWhatWouldBeIgnored) {
  const std::string probe = "probe \"a fine film\" ";
  expect_refusal(probe, "nothing is asked for");
  expect_refusal(probe + "--read layer.1", "no value 'layer.1'");
  expect_refusal(probe + "--read \"blocks.0.atention.context\"", "'blocks.0.attention.context'");
  expect_refusal(probe + "--read \"words token=9\"", "no token 9");
  expect_refusal(probe + "--edit \"zero blocks.0.output head=0\"", "no axis 'head'");
  expect_refusal(probe + "--edit \"wipe blocks.0.output\"", "begins with none of");
  expect_refusal(probe + "--edit \"copy other.blocks.0.output\"", "--other");
  expect_refusal(probe + "--read words --other x", "--other goes with");
  expect_refusal(probe + "--read words --policy chefer", "--relevance");
  expect_refusal(probe + "--read words --gradient-of logits", "--gradient");
  expect_refusal(probe + "--read words --save-as f16", "--save");
  expect_refusal(probe + "--read \"**\" --most 0", "--most");
  expect_refusal(probe + "--read words --read embeddings --save " + path("x.npy"), "one");
  expect_refusal(probe + "--read words --save " + path("x.txt"), ".safetensors");
  EXPECT_FALSE(std::filesystem::exists(path("x.npy")));
}

TEST_F(Probing, KeepsWhatWasRead) {
  const std::string probe = "probe \"a fine film\" --read \"blocks.0.output\" --save ";
  EXPECT_EQ(run(probe + path("x.safetensors")).code, 0);
  EXPECT_EQ(run(probe + path("x.npy") + " --save-as f16").code, 0);
  EXPECT_EQ(run(probe + path("x.zarr")).code, 0);
  EXPECT_THAT(read("x.npy"), HasSubstr("'descr': '<f2'"));
  EXPECT_TRUE(std::filesystem::exists(path("x.zarr/blocks.0.output/0.0.0")));
  EXPECT_LT(read("x.npy").size(), read("x.safetensors").size());
  expect_refusal(probe + path("x.zarr"), "there already");
}

TEST_F(Probing, ExplainsTheChangedModel) {
  const auto explained = [&](const std::string& edit) {
    return run("explain \"a fine film\" --method gae,rollout --json - " + edit);
  };
  const CommandResult answer = explained("--edit \"zero blocks.1.attention.context head=0\"");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const json found = json::parse(answer.out), own = json::parse(explained("").out);
  EXPECT_EQ(found["edits"], (json{"zero blocks.1.attention.context head=0"}));
  EXPECT_NE(found["output"]["values"], own["output"]["values"]);
  EXPECT_NE(found["attributions"][0]["scores"], own["attributions"][0]["scores"]);
}

}  // namespace
}  // namespace whyformer::cli
