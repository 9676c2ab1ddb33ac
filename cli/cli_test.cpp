// The program as people call it: what it prints, writes and refuses.
#include <nlohmann/json.hpp>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(CommandLine, ExplainsASentenceWithNoModelGiven) {
  const CommandResult answer = run("explain 'I cannot wait for next time'");
  EXPECT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("Predicted"));
  EXPECT_THAT(answer.out, HasSubstr("cannot"));
  EXPECT_THAT(answer.out, Not(HasSubstr("\x1b["))) << "no colours in a pipe";
}

TEST_F(CommandLine, WritesTheDocumentedJson) {
  const CommandResult answer =
      run("explain --text 'A good film, really.' --method rollout,gae --target 1 --json " +
          path("out.json") + " --html " + path("out.html"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(read("out.json"));
  EXPECT_EQ(json["schema"], "whyformer.explanation/1");
  EXPECT_EQ(json["model"]["architecture"], "BertForSequenceClassification");
  EXPECT_EQ(json["target"]["index"], 1);
  EXPECT_EQ(json["output"]["values"].size(), 2u);
  ASSERT_EQ(json["attributions"].size(), 2u);
  for (const auto& attribution : json["attributions"]) {
    EXPECT_EQ(attribution["scores"].size(), json["units"].size());
    EXPECT_EQ(attribution["words"].size(), 6u) << "A good film , really .";
    EXPECT_EQ(attribution["cost"]["forwards"], 1);
  }
  EXPECT_EQ(json["units"][0]["special"], true);
  EXPECT_EQ(json["attributions"][0]["words"][1]["text"], "good");
  EXPECT_EQ(json["attributions"][0]["words"][1]["start"], 2);
  EXPECT_EQ(json["attributions"][0]["words"][1]["end"], 6);
  EXPECT_THAT(read("out.html"), HasSubstr("</html>"));
}

TEST_F(CommandLine, OffsetsCountCodePoints) {
  const CommandResult answer = run("explain 'Ein schöner Film 😀 ja' --method rollout --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  const auto& words = json["attributions"][0]["words"];
  EXPECT_EQ(words[words.size() - 1]["text"], "ja");
  EXPECT_EQ(words[words.size() - 1]["start"], 19);
}

TEST_F(CommandLine, ExplainsLinesOfAFileAndKeepsTheirOrder) {
  write("texts", "a fine film\n\nso boring\r\n");
  const CommandResult answer = run("explain --method rollout --file " + path("texts"));
  EXPECT_EQ(answer.code, 2) << "one line is empty";
  std::istringstream lines(answer.out);
  std::string line;
  std::vector<nlohmann::json> answers;
  while (std::getline(lines, line)) answers.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0]["text"], "a fine film");
  EXPECT_THAT(answers[1]["error"].get<std::string>(), HasSubstr("empty"));
  EXPECT_EQ(answers[2]["text"], "so boring");
}

TEST_F(CommandLine, ReadsTextsFromStandardInput) {
  const CommandResult answer = run("explain --method gae", "printf 'good\\nbad\\n' |");
  EXPECT_EQ(answer.code, 0) << answer.error;
  EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 2);
}

TEST_F(CommandLine, SayAloudThatALongTextWasCutOff) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "long ";
  write("text", text);
  const CommandResult answer = run("explain --method rollout --file " + path("text"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  ASSERT_FALSE(json["notes"].empty());
  EXPECT_THAT(json["notes"][0].get<std::string>(), HasSubstr("cut off"));
}

TEST_F(CommandLine, EveryMethodRuns) {
  const CommandResult list = run("methods --json");
  const auto methods = nlohmann::json::parse(list.out);
  EXPECT_GE(methods.size(), 11u);
  std::string names;
  for (const auto& method : methods) {
    names += (names.empty() ? "" : ",") + method["name"].get<std::string>();
  }
  const CommandResult answer = run("explain 'not bad at all' --json - --method " + names);
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_EQ(nlohmann::json::parse(answer.out)["attributions"].size(), methods.size());
}

TEST_F(CommandLine, OptionsAndPresetsReachTheirMethod) {
  const CommandResult answer =
      run("explain good --method rollout,grad-sam --option rollout.preset=vit-explain "
          "--option rollout.discard=0.5 --option grad-sam.axis=key --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["attributions"][0]["options"]["fusion"], "max");
  EXPECT_EQ(json["attributions"][0]["options"]["discard"], 0.5);
  EXPECT_EQ(json["attributions"][1]["options"]["axis"], "key");
}

TEST_F(CommandLine, TargetsAreLabelsOrNumbers) {
  const CommandResult answer = run("explain good --method rollout --target positive --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_EQ(nlohmann::json::parse(answer.out)["target"]["index"], 1);
}

TEST_F(CommandLine, TraceSavesMapsAndGradients) {
  const CommandResult answer =
      run("trace --text 'a good film' --target 1 --save " + path("maps.safetensors"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  const std::string file = read("maps.safetensors");
  uint64_t length = 0;
  memcpy(&length, file.data(), 8);
  const auto header = nlohmann::json::parse(file.substr(8, length));
  ASSERT_TRUE(header.contains("attention.0"));
  EXPECT_EQ(header["attention.0"]["shape"], header["attention_gradient.0"]["shape"]);
  EXPECT_EQ(header["attention.0"]["shape"][1], 5) << "[CLS] a good film [SEP]";
  EXPECT_EQ(header["logits"]["shape"][0], 2);
}

TEST_F(CommandLine, TokenizesJsonLines) {
  const CommandResult answer =
      run("tokenize --json", R"(printf '%s\n' '"Good film"' '{"text": "a", "pair": "b"}' '""' |)");
  ASSERT_EQ(answer.code, 0) << answer.error;
  std::istringstream lines(answer.out);
  std::string line;
  std::getline(lines, line);
  const auto first = nlohmann::json::parse(line);
  EXPECT_EQ(first["tokens"], (std::vector<std::string>{"[CLS]", "good", "film", "[SEP]"}));
  EXPECT_EQ(first["offsets"][2], (std::vector<int>{5, 9}));
  EXPECT_EQ(first["ids"].size(), 4u);
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line)["tokens"].size(), 5u);
  std::getline(lines, line);
  EXPECT_EQ(nlohmann::json::parse(line)["tokens"].size(), 2u);
}

TEST_F(CommandLine, InspectShowsWhatWasFound) {
  const auto json = nlohmann::json::parse(run("inspect --json").out);
  EXPECT_EQ(json["read_out"], "token 0");
  EXPECT_GE(json["attention"].size(), 2u);
  EXPECT_THAT(run("inspect").out, HasSubstr("attention sites"));
  EXPECT_THAT(run("inspect --html " + path("found.html")).error,
              HasSubstr("wrote " + path("found.html")));
}

TEST_F(CommandLine, InspectShowsWhereRelevanceGoes) {
  const CommandResult table = run("inspect --relevance --policy lrp-orig");
  EXPECT_EQ(table.code, 0) << table.error;
  EXPECT_THAT(table.out, HasSubstr("positive-by-sign"));
  EXPECT_THAT(table.out, HasSubstr("adds"));
  const CommandResult json =
      run("inspect --relevance --json --precision double --text 'A dull film'");
  const auto report = nlohmann::json::parse(json.out);
  EXPECT_EQ(report["policy"], "chefer");
  EXPECT_NEAR(report["at_first_layer"].get<double>(), 1, 1e-6);
}

TEST_F(CommandLine, PoliciesComeFromFilesToo) {
  write("mine.json", R"({"base": "attn-lrp", "rules": [{"operator": "Softmax", "rule": "stop"}]})");
  const CommandResult answer = run(
      "explain 'A dull film' --method lrp --option lrp.policy=" + path("mine.json") + " --json -");
  EXPECT_EQ(answer.code, 0) << answer.error;
  write("wrong.json", R"({"rules": [{"rule": "sotp"}]})");
  expect_refusal("explain 'A dull film' --method lrp --option lrp.policy=" + path("wrong.json"),
                 "there is no rule \"sotp\"");
  expect_refusal("explain 'A dull film' --method lrp --option lrp.policy=nope",
                 "there is no policy 'nope'");
  expect_refusal("explain 'A dull film' --method lrp --option lrp.policy=nope.json", "nope.json");
}

TEST_F(CommandLine, PoliciesThatSayNothingAboutTheModelAreRefusedOrNoted) {
  const std::string explain = "explain 'a good film' --method lrp --option lrp.policy=";
  write("typo.json", R"({"base": "attn-lrp", "rules": [{"operator": "Sofmax", "rule": "stop"}]})");
  expect_refusal(explain + path("typo.json"), "the nearest is \"Softmax\"");
  write("none.json", R"({"base": "attn-lrp", "rules": [{"operator": "Conv", "rule": "stop"}]})");
  EXPECT_THAT(run(explain + path("none.json")).out,
              testing::HasSubstr("it fits no node of this model"));
  EXPECT_THAT(run("inspect --relevance --policy " + path("none.json")).out,
              testing::HasSubstr("it fits no node of this model"));
}

TEST_F(CommandLine, OptionsOfOtherKindsOfInputAreRefused) {
  expect_refusal("explain 'a good film' --grain blocks", "heat maps on a picture");
  expect_refusal("explain 'a good film' --segment mask", "heat maps on a picture");
  expect_refusal("explain 'a good film' --hiding-id 3", "--hiding-id goes with --inputs");
  expect_refusal("explain 'a good film' --background-rows 3", "--table");
  expect_refusal("explain 'a good film' --method lime -o lime.how=grey",
                 "how is for patches and columns");
  expect_refusal("explain 'a good film' --method lime -o lime.kernel-width=0.25",
                 "raise the kernel width");
  const std::string picture =
      "explain " WHYFORMER_SOURCE_DIR "/tests/data/pictures/pairs/pair-000.png ";
  expect_refusal(picture + "--words max", "only texts have words");
  expect_refusal(picture + "--grain blocks", "--svg and --png");
}

TEST_F(CommandLine, DoublePrecisionAgreesWithSingle) {
  const auto scores = [&](const std::string& precision) {
    const CommandResult answer = run(
        "explain 'A gripping and funny film' --method gae,attn-lrp,rollout,integrated-gradients,"
        "smooth-grad,grad-cam --json - --precision " +
        precision);
    EXPECT_EQ(answer.code, 0) << answer.error;
    return nlohmann::json::parse(answer.out)["attributions"];
  };
  const auto single = scores("single"), exact = scores("double");
  for (size_t method = 0; method < exact.size(); ++method) {
    for (size_t i = 0; i < exact[method]["scores"].size(); ++i) {
      EXPECT_NEAR(single[method]["scores"][i].get<double>(),
                  exact[method]["scores"][i].get<double>(), 1e-4)
          << exact[method]["method"];
    }
  }
}

TEST_F(CommandLine, VersionNamesTheReleaseTheCommitAndTheInstructionSets) {
  const CommandResult answer = run("--version");
  EXPECT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, testing::MatchesRegex(
                              "whyformer [0-9.]+, commit ([0-9a-f]+|unknown), [A-Z0-9_ ]+\n"));
}

TEST_F(CommandLine, HelpIsThereForEveryCommand) {
  for (const std::string command :
       {"", "explain", "heads", "tcav", "trace", "tokenize", "inspect", "methods"}) {
    const CommandResult answer = run(command + " --help");
    EXPECT_EQ(answer.code, 0) << command;
    EXPECT_THAT(answer.out, HasSubstr("--help")) << command;
  }
}

TEST_F(CommandLine, RefusesWithOneClearLine) {
  expect_refusal("explain x --model /no/such/folder", "there is no '/no/such/folder'");
  expect_refusal("explain x --model " + path("."), "has no config.json");
  expect_refusal("explain ''", "the text is empty");
  expect_refusal("explain '   '", "the text is empty");
  expect_refusal("explain x --method rolout",
                 "there is no method 'rolout'; did you mean 'rollout'? known are rollout");
  expect_refusal("explain x --method rollout --option rollout.strat=1", "has no option 'strat'");
  expect_refusal("explain x --method rollout --option rollout.start=one",
                 "expected a whole number");
  expect_refusal("explain x --method rollout --option rollout.discard=2", "expected");
  expect_refusal("explain x --method gae --option rollout.start=1", "add rollout to --method");
  expect_refusal("explain x --target 7", "there is no target '7'");
  expect_refusal("explain x --target maybe", "there is no target 'maybe'");
  expect_refusal("explain x --json /no/such/folder/out.json", "/no/such/folder");
  expect_refusal("explain x --nonsense", "--nonsense");
  expect_refusal("explain --file /no/such/file", "cannot read '/no/such/file'");
  write("lines.txt", "a fine film\n");
  expect_refusal(
      "explain " + path("lines.txt"),
      "is a file: explain the texts in it, one per line, with 'whyformer explain --file");
  write("moving.gif", "GIF89a");
  expect_refusal("explain " + path("moving.gif"),
                 "is a GIF picture: give a JPEG, PNG or WebP picture");
  expect_refusal("explain " + path("."), "is a folder: give a picture");
  expect_refusal("trace x", "--save");
  expect_refusal("heads", "FILE");
  expect_refusal("heads /no/such/file", "cannot read '/no/such/file'");
  expect_refusal("heads /dev/null", "there is no text in '/dev/null'");
  write("texts", "fine\t1\nodd\tpurple\n{\"text\": 3}\n");
  expect_refusal("heads " + path("texts"), "line 3: expected JSON such as");
  expect_refusal("heads --limit 2 " + path("texts"), "line 2: there is no label 'purple'");
  expect_refusal("heads --limit 1 --measure mitchell " + path("texts"), "no measure 'mitchell'");
  expect_refusal("heads --keep-one " + path("texts"), "--prune");
  expect_refusal("heads " + path("texts") + " --json /no/such/folder/out.json", "/no/such/folder");
}

TEST_F(CommandLine, LeavesNoHalfWrittenFilesWhenItFails) {
  expect_refusal("explain x --target 7 --json " + path("a.json") + " --html " + path("a.html"),
                 "target");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.html"));
}

TEST_F(CommandLine, AClosedPipeEndsItQuietly) {
  const CommandResult answer =
      run("explain --method rollout | head -1", "yes 'a good film' | head -200 |");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.error, "");
}

}  // namespace
}  // namespace whyformer::cli
