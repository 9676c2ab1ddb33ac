// Questions over many inputs: heads and tcav.
#include <nlohmann/json.hpp>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(CommandLine, HeadsMeasuresACorpus) {
  write("texts.tsv", "sentence\tlabel\na warm , funny film\t1\n\ndull and flat\tnegative\r\n");
  const CommandResult answer =
      run("heads --measure michel,entropy --prune --prune-step 50 --keep-one " + path("texts.tsv") +
          " --json " + path("heads.json") + " --svg " + path("heads.svg") + " --png " +
          path("heads.png"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("michel"));
  EXPECT_THAT(answer.out, HasSubstr("highest"));
  EXPECT_THAT(answer.out, Not(HasSubstr("\x1b["))) << "no colours in a pipe";
  const auto json = nlohmann::json::parse(read("heads.json"));
  EXPECT_EQ(json["schema"], "whyformer.heads/1");
  EXPECT_EQ(json["examples"], 2) << "the heading and the blank line are no texts";
  EXPECT_EQ(json["labelled"], 2);
  EXPECT_EQ(json["measures"].size(), 2u);
  EXPECT_EQ(json["pruning"]["steps"][0]["accuracy"], 1.0) << "both labels are read";
  EXPECT_THAT(read("heads.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(read("heads.png"), HasSubstr("PNG"));
}

TEST_F(CommandLine, HeadsReadsJsonLinesAndPlainTextsFromStandardInput) {
  const CommandResult answer =
      run("heads - --measure michel,confidence,voita-lrp --limit 2 --json -",
          R"(printf '%s\n' '{"text": "good", "label": 1}' 'so dull' 'unread' |)");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["examples"], 2);
  EXPECT_EQ(json["labelled"], 1);
  EXPECT_THAT(json["notes"][0].get<std::string>(), HasSubstr("1 of 2 texts have no label"));
}

TEST_F(CommandLine, HeadsTellsRolesOfATextsTokensAndDrawsThem) {
  const CommandResult answer = run("heads " WHYFORMER_SOURCE_DIR
                                   "/tests/data/sentiment.tsv --roles --relabellings 50 --json " +
                                   path("roles.json") + " --html " + path("roles.html") +
                                   " --svg " + path("roles.svg") + " --png " + path("roles.png"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("previous-token"));
  EXPECT_THAT(answer.out, Not(HasSubstr("michel"))) << "no measure was asked for";
  const auto json = nlohmann::json::parse(read("roles.json"));
  EXPECT_EQ(json["measures"].size(), 0u);
  EXPECT_EQ(json["roles"]["heads"].size(), 4u);
  EXPECT_EQ(json["roles"]["settings"]["permutations"], 50);
  EXPECT_TRUE(json["roles"]["syntax"].is_null());
  const auto& broad = json["roles"]["heads"][3][0]["shares"]["broad"];
  EXPECT_TRUE(broad["chance"].is_null()) << "relabelling does not change a row's entropy";
  EXPECT_THAT(read("roles.html"), HasSubstr("What the marks mean"));
  EXPECT_THAT(read("roles.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(read("roles.png"), HasSubstr("PNG"));
}

TEST_F(CommandLine, HeadsFindsArcsOfATreebankAndNamesItsBrokenLines) {
  std::string trees;
  for (const std::string word : {"film", "plot", "story"}) {
    trees +=
        "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\t" + word + "\t_\tNOUN\t_\t_\t0\troot\t_\t_\n\n";
  }
  write("trees.conllu", trees);
  const CommandResult answer = run("heads --roles --conllu " + path("trees.conllu") + " --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto syntax = nlohmann::json::parse(answer.out)["roles"]["syntax"];
  EXPECT_EQ(syntax["sentences"], 3);
  EXPECT_EQ(syntax["relations"][1]["relation"], "det");
  EXPECT_EQ(syntax["relations"][1]["arcs"], 3);
  EXPECT_EQ(syntax["relations"][1]["offset"], 1);
  EXPECT_FALSE(syntax["relations"][1]["holds"]) << "three arcs are too little data";
  write("broken.conllu", trees + "1\tthe\n");
  expect_refusal("heads --roles --conllu " + path("broken.conllu"), "line 10: CoNLL-U has 10");
  expect_refusal("heads --roles", "--conllu");
  expect_refusal("heads --conllu " + path("trees.conllu"), "--roles");
}

TEST_F(CommandLine, LearnedProbesLayersBesideTheirControls) {
  const CommandResult answer =
      run("learned --file " WHYFORMER_SOURCE_DIR
          "/tests/data/sentiment.tsv --layer 0,3 --shuffles 5 --json " +
          path("probes.json") + " --html " + path("probes.html") + " --png " + path("probes.png") +
          " --directions " + path("probes.safetensors"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("embeddings"));
  EXPECT_THAT(answer.out, HasSubstr("majority"));
  const auto json = nlohmann::json::parse(read("probes.json"));
  EXPECT_EQ(json["schema"], "whyformer.learned/1");
  ASSERT_EQ(json["layers"].size(), 3u);
  EXPECT_EQ(json["layers"][0]["layer"], "embeddings");
  EXPECT_EQ(json["layers"][2]["layer"], 3);
  EXPECT_EQ(json["held_out_inputs"], 10);
  EXPECT_TRUE(json["layers"][1]["selectivity"].is_null()) << "whole texts have no word types";
  EXPECT_THAT(read("probes.html"), HasSubstr("Accuracy on held-out inputs"));
  EXPECT_THAT(read("probes.safetensors"), HasSubstr("layer.3.weight"));
  expect_refusal("learned", "--words");
  expect_refusal("learned --file " WHYFORMER_SOURCE_DIR "/tests/data/sentiment.tsv --layer 9",
                 "there is no layer 9");
  write("words.txt", "good\n");
  expect_refusal("learned --words " + path("words.txt"), "line 1: expected a word and its label");
}

TEST_F(CommandLine, HeadsMeasuresPicturesLabelledByTheirFoldersOrAList) {
  const std::filesystem::path objects = WHYFORMER_SOURCE_DIR "/tests/data/pictures/objects";
  const auto labels =
      nlohmann::json::parse(
          run("explain " + (objects / "object-000.png").string() + " --method gae --json -").out)
          .at("output")
          .at("labels");
  const std::string first = labels[0], second = labels[1];
  std::string list = "file\tlabel\n";
  for (const std::string& label : {first, second}) {
    std::filesystem::create_directories(folder_ / "pictures" / label);
    for (const std::string name : {"object-000.png", "object-001.png"}) {
      std::filesystem::copy_file(objects / name, folder_ / "pictures" / label / name);
      list += "pictures/" + label + "/" + name + "\t" + label + "\n";
    }
  }
  write("list.tsv", list);
  const auto measured = [&](const std::string& arguments) {
    const CommandResult answer =
        run("heads " + arguments + " --measure michel,confidence --json -");
    EXPECT_EQ(answer.code, 0) << answer.error;
    return nlohmann::json::parse(answer.out);
  };
  const auto by_folder = measured(path("pictures")), by_list = measured(path("list.tsv"));
  EXPECT_EQ(by_folder["kind"], "pictures");
  EXPECT_EQ(by_folder["examples"], 4);
  EXPECT_EQ(by_folder["labelled"], 4);
  for (size_t measure = 0; measure < 2; ++measure) {
    const auto folder_scores = by_folder["measures"][measure]["scores"],
               list_scores = by_list["measures"][measure]["scores"];
    for (size_t layer = 0; layer < folder_scores.size(); ++layer) {
      for (size_t head = 0; head < folder_scores[layer].size(); ++head) {
        EXPECT_NEAR(folder_scores[layer][head].get<double>(),
                    list_scores[layer][head].get<double>(), 1e-6);
      }
    }
  }
  EXPECT_EQ(measured(path("pictures") + " --limit 2")["labelled"], 2);
  write("wrong.tsv", "pictures/" + first + "/object-000.png\tno such thing\n");
  expect_refusal("heads " + path("wrong.tsv"), "line 1: ");
  write("gone.tsv", "gone.png\t" + first + "\n");
  expect_refusal("heads " + path("gone.tsv"), "gone.png");
  expect_refusal("heads " + path("pictures") + " --model " WHYFORMER_SOURCE_DIR "/models/sentiment",
                 "reads texts, not pictures");
}

// Sentences of every word with every subject.
std::string sentences(const std::vector<std::string>& subjects,
                      const std::vector<std::string>& words) {
  std::string lines;
  for (const std::string& subject : subjects) {
    for (const std::string& word : words) lines += subject + " " + word + "\n";
  }
  return lines;
}

TEST_F(CommandLine, TcavFindsPraiseAndNothingInRandomTexts) {
  const std::vector<std::string> subjects{"the table in the hall is", "my brother and his car were",
                                          "a train to the north is", "their small garden was"};
  const std::vector<std::string> praise{"wonderful", "brilliant", "superb", "delightful", "great"};
  const std::vector<std::string> plain{"green", "wooden", "late",   "round", "cold",   "far away",
                                       "here",  "blue",   "square", "heavy", "narrow", "closed"};
  write("praise.txt", sentences(subjects, praise));
  write("any.txt", sentences(subjects, plain));
  write("other.txt", sentences({"the letter was", "some chairs are"}, plain));
  write("none.txt", sentences({"the house by the road is"}, plain));
  write("films.txt",
        "a warm and funny film\nan honest story\nthe cast is strong\nit moves and it matters\n");
  const std::string sets = " --target positive --examples " + path("films.txt") + " --concept " +
                           path("praise.txt") + " --concept " + path("none.txt") + " --random " +
                           path("any.txt") + " --random " + path("other.txt");
  const CommandResult answer =
      run("tcav --layer 0,1 --counterparts 20 --permutations 500" + sets + " --json " +
          path("tcav.json") + " --svg " + path("tcav.svg") + " --png " + path("tcav.png"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("praise"));
  EXPECT_THAT(answer.out, HasSubstr("significant"));
  EXPECT_THAT(answer.out, Not(HasSubstr("\x1b["))) << "no colours in a pipe";
  const auto json = nlohmann::json::parse(read("tcav.json"));
  EXPECT_EQ(json["schema"], "whyformer.tcav/1");
  ASSERT_EQ(json["tests"].size(), 4u);
  EXPECT_EQ(json["tests"][0]["verdict"], "significant");
  EXPECT_EQ(json["tests"][0]["score"], 1.0);
  EXPECT_EQ(json["tests"][1]["concept"], "none");
  EXPECT_NE(json["tests"][1]["verdict"], "significant");
  EXPECT_LT(json["tests"][0]["t_test"]["bonferroni"].get<double>(), 0.01);
  EXPECT_LT(json["tests"][0]["magnitude_permutation"]["bonferroni"].get<double>(), 0.01);
  EXPECT_THAT(read("tcav.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(read("tcav.png"), HasSubstr("PNG"));
}

TEST_F(CommandLine, TcavRefusesWithOneClearLine) {
  write("few.txt", "one\ntwo\n");
  write("texts.txt", sentences({"a", "b", "c"}, {"one", "two", "three", "four", "five"}));
  const std::string sets =
      " --target positive --examples " + path("few.txt") + " --random " + path("texts.txt");
  expect_refusal("tcav", "--target");
  expect_refusal("tcav" + sets + " --concept " + path("few.txt"),
                 "the concept 'few' has 2 examples");
  expect_refusal("tcav" + sets + " --concept " + path("texts.txt") + " --layer 99",
                 "there is no layer 99");
  expect_refusal("tcav" + sets + " --concept " + path("texts.txt") + " --layer x",
                 "expected block numbers");
  expect_refusal("tcav" + sets + " --concept a=/no/such/file", "cannot read '/no/such/file'");
  expect_refusal("tcav" + sets + " --concept " + path("."), "has no JPEG, PNG or WebP pictures");
  expect_refusal(
      "tcav --target positive --random " + path("texts.txt") + " --concept " + path("texts.txt"),
      "there are no examples of 'positive'");
  expect_refusal("tcav" + sets + " --given-sets --concept " + path("texts.txt"), "give at least 4");
  expect_refusal("tcav" + sets + " --tokens all --concept " + path("texts.txt"),
                 "inputs of one length");
  expect_refusal("tcav --target up --examples " + path("few.txt") + " --random " +
                     path("texts.txt") + " --concept " + path("texts.txt"),
                 "there is no target 'up'");
  expect_refusal(
      "tcav" + sets + " --concept " + path("texts.txt") + " --concept " + path("texts.txt"),
      "two sets are called 'texts'");
}

}  // namespace
}  // namespace whyformer::cli
