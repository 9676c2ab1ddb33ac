// Which explanation to believe: explain --trust, evaluate and agree.
#include <nlohmann/json.hpp>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;

class Evaluate : public CommandLine {
 protected:
  // Four texts, one with a known reason, and two lines that cannot be read.
  std::string corpus() const {
    write("texts.jsonl",
          R"({"text": "a warm and funny film", "label": 1, "rationales": [[2, 6]]}
{"text": "dull and flat", "label": 0}
{"label": 1}
{"text": "so bad it is good", "rationales": "good"}
{"text": "the story is thin and the jokes are stale"}
good
)");
    return path("texts.jsonl");
  }
};

TEST_F(Evaluate, ProtocolsReadTheirDataAsItIsAndGoOnFromKeptInputs) {
  std::filesystem::create_directories(path("docs"));
  write("docs/a.txt", "the film is a warm and funny\nsurprise");
  const std::string line = R"({"annotation_id": "a.txt", "classification": "POS", "evidences": )";
  write("test.jsonl", line + R"([[{"docid": "a.txt", "start_token": 4, "end_token": 5}]]})" + "\n" +
                          line + R"([[{"docid": "b.txt", "start_token": 0, "end_token": 1}]]})" +
                          "\n");
  const std::string command = "evaluate --protocol eraser --method gae --data " + path("") +
                              " --keep " + path("kept.jsonl") + " --json -";
  const CommandResult first = run(command);
  ASSERT_EQ(first.code, 0) << first.error;
  const auto json = nlohmann::json::parse(first.out);
  EXPECT_EQ(json["protocol"], "eraser");
  EXPECT_EQ(json["columns"][2]["curve"], "token-f1");
  EXPECT_EQ(json["columns"][2]["x"], 5);
  ASSERT_EQ(json["inputs"].size(), 2u);
  EXPECT_THAT(json["inputs"][1]["problem"].get<std::string>(), HasSubstr("there is no document"));
  EXPECT_TRUE(json["inputs"][0]["methods"][0]["values"][0].is_number());
}

TEST_F(Evaluate, UnknownProtocolsListTheKnownOnes) {
  expect_refusal("evaluate --protocol cvpr -f " + corpus(), "the protocols are cvpr21-perturb");
  expect_refusal("evaluate --protocol roar -f " + corpus(), "trains the model again");
  expect_refusal("evaluate --protocol rise --metric iou -f " + corpus(), "--protocol");
  expect_refusal("evaluate --protocol eraser --data " + path("none"), "is not an ERASER folder");
  EXPECT_THAT(run("evaluate --help").out, HasSubstr("cvpr21-segmentation: maps of"));
}

TEST_F(Evaluate, TrustStandsBesideEachMethod) {
  const CommandResult answer =
      run("explain 'the story is thin and the jokes are stale' --method "
          "gae,rollout --trust --json " +
          path("t.json") + " --html " + path("t.html"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("Trust: "));
  EXPECT_THAT(answer.out, HasSubstr("hiding by mask"));
  const auto json = nlohmann::json::parse(read("t.json"));
  EXPECT_EQ(json["trust"]["orders"], 39);
  for (const auto& attribution : json["attributions"]) {
    EXPECT_GT(attribution["trust"]["percentile"]["error"], 0);
  }
  EXPECT_THAT(read("t.html"), HasSubstr("trust-plot"));
}

TEST_F(Evaluate, TrustSaysWhereItCannotBeMeasured) {
  const CommandResult answer = run("explain good --method gae --trust");
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.out, HasSubstr("Trust was not measured: 1 of the units can be hidden"));
  expect_refusal("explain good --trust-orders 39", "--trust");
}

TEST_F(Evaluate, MeasuresEveryInputThatItCan) {
  const CommandResult answer =
      run("evaluate --method gae,rollout --metric comprehensiveness,pointing-game,sparseness -f " +
          corpus() + " --json " + path("e.json") + " --csv " + path("e.csv") + " --html " +
          path("e.html") + " --svg " + path("e.svg") + " --png " + path("e.png"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("2 of 6 inputs could not be evaluated:"));
  const auto json = nlohmann::json::parse(read("e.json"));
  ASSERT_EQ(json["inputs"].size(), 6u);
  EXPECT_THAT(json["inputs"][3]["problem"].get<std::string>(), HasSubstr("rationales"));
  ASSERT_EQ(json["methods"].size(), 3u) << "the baseline is one";
  EXPECT_EQ(json["methods"][2]["method"], "random");
  EXPECT_EQ(json["methods"][0]["cells"][1]["inputs"], 1) << "one text has a known reason";
  EXPECT_TRUE(json["methods"][0]["cells"][1]["low"].is_null()) << "one input has no interval";
  EXPECT_THAT(read("e.csv"), HasSubstr("line 1,positive,gae,comprehensiveness,auto,"));
  EXPECT_THAT(read("e.html"), HasSubstr("</svg>"));
  EXPECT_THAT(read("e.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(read("e.png"), HasSubstr("PNG"));
}

TEST_F(Evaluate, GoesOnFromWhatItKept) {
  const std::string command = "evaluate --method gae --metric deletion --json - -f " + corpus() +
                              " --keep " + path("kept.jsonl");
  const auto whole = nlohmann::json::parse(run(command).out);
  const std::string kept = read("kept.jsonl");
  write("kept.jsonl", kept.substr(0, kept.find('\n', kept.find('\n') + 1) + 1));  // one input
  auto again = nlohmann::json::parse(run(command).out);
  EXPECT_EQ(again["methods"][0]["cells"], whole["methods"][0]["cells"]);
  EXPECT_EQ(again["inputs"].size(), whole["inputs"].size());
  expect_refusal("evaluate --method rollout --metric deletion -f " + corpus() + " --keep " +
                     path("kept.jsonl"),
                 "keeps the inputs of another evaluation");
}

TEST_F(Evaluate, RefusesWhatCannotBeMeant) {
  expect_refusal("evaluate --method gae", "no inputs: give --file");
  expect_refusal("evaluate --method gae --metric pointing -f " + corpus(), "no metric 'pointing'");
  expect_refusal("evaluate --method ga -f " + corpus(), "there is no method 'ga'");
  expect_refusal("agree --method gae -f " + corpus(), "two methods at least");
  const std::string pictures = "evaluate --method gae --metric pointing-game --pictures " +
                               std::string(WHYFORMER_SOURCE_DIR) + "/tests/data/pictures/objects";
  expect_refusal(pictures + " --masks /no/such/folder", "cannot read '/no/such/folder'");
  expect_refusal(pictures + " --masks " + path(""), "no picture has a mask");
  expect_refusal("evaluate --method gae --row 3 --table rows.csv", "--row");
  write("rows.csv", "a,b\n1,2\n3,4\n");
  expect_refusal("evaluate --method gae --table " + path("rows.csv") + " --csv " + path("rows.csv"),
                 "would overwrite what is read");
}

TEST_F(Evaluate, FailsWhereNothingCouldBeEvaluated) {
  write("texts.jsonl", "{\"label\": 1}\n");
  const CommandResult answer = run("evaluate --method gae -f " + path("texts.jsonl"));
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.error, HasSubstr("none of the inputs could be evaluated"));
}

TEST_F(Evaluate, MethodsAgreeWithThemselvesAndLessWithOthers) {
  const CommandResult answer =
      run("agree --method gae,integrated-gradients --with kernel-shap --json - -f " + corpus());
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["methods"], nlohmann::json({"kernel-shap", "gae", "integrated-gradients"}));
  EXPECT_EQ(json["pairs"].size(), 3u);
  EXPECT_EQ(json["ceiling"][1]["spearman"]["mean"], 1);
  EXPECT_TRUE(json["pairs"][0]["sign"]["mean"].is_null()) << "gae has no signs";
  EXPECT_FALSE(json["pairs"][1]["sign"]["mean"].is_null());
  EXPECT_EQ(json["inputs"], 4);
}

// Rows of the wine table with the examples' model.
class AgreeOnTables : public CommandLine {
 protected:
  static std::string model() {
    return " --model " WHYFORMER_SOURCE_DIR "/examples/data/wine.onnx ";
  }
  static std::string wine() {
    return std::string(" --examples 6 --table " WHYFORMER_SOURCE_DIR "/examples/data/wine.csv") +
           model();
  }
};

TEST_F(AgreeOnTables, TellsOfColumnsAndOfPresetsByTheirNames) {
  const CommandResult answer =
      run("agree --method raw-attention:gorishniy,raw-attention:borisov-column,gradient-x-input "
          "--magnitudes --json -" +
          wine());
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["methods"], nlohmann::json({"raw-attention:gorishniy",
                                             "raw-attention:borisov-column", "gradient-x-input"}));
  EXPECT_EQ(json["columns"].size(), 13u);
  EXPECT_EQ(json["by_column"].size(), 3u);
  EXPECT_EQ(json["by_column"][0]["each"].size(), 13u);
  EXPECT_FALSE(json["by_column"][0]["means"]["spearman"]["mean"].is_null());
  EXPECT_NEAR(json["chance_of_top_k"].get<double>(), 2.0 / 13, 1e-12);
}

TEST_F(AgreeOnTables, ShowsTheSpreadOverSeveralModels) {
  const CommandResult answer = run("agree --method rollout,gae" + wine() + model());
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("Agreement of methods on 2 models"));
  EXPECT_THAT(answer.out, HasSubstr("± 0.00"));
  const auto json =
      nlohmann::json::parse(run("agree --json - --method rollout,gae" + wine() + model()).out);
  EXPECT_EQ(json["models"].size(), 2u);
  EXPECT_EQ(json["spread"][0]["inputs"]["spearman"]["models"], 2);
  EXPECT_EQ(json["spread"][0]["columns"]["spearman"]["mean"],
            json["models"][0]["by_column"][0]["means"]["spearman"]["mean"]);
}

}  // namespace
}  // namespace whyformer::cli
