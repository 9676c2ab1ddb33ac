// The program as people call it: what it prints, writes and refuses.
#include <nlohmann/json.hpp>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kTinyBert = WHYFORMER_SOURCE_DIR "/tests/golden/models/bert";

TEST_F(CommandLine, ExplainsASentenceWithNoModelGiven) {
  const Answer answer = run("explain 'I cannot wait for next time'");
  EXPECT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.out, HasSubstr("Predicted"));
  EXPECT_THAT(answer.out, HasSubstr("cannot"));
  EXPECT_THAT(answer.out, Not(HasSubstr("\x1b["))) << "no colours in a pipe";
}

TEST_F(CommandLine, WritesTheDocumentedJson) {
  const Answer answer =
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
  const Answer answer = run("explain 'Ein schöner Film 😀 ja' --method rollout --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  const auto& words = json["attributions"][0]["words"];
  EXPECT_EQ(words[words.size() - 1]["text"], "ja");
  EXPECT_EQ(words[words.size() - 1]["start"], 19);
}

TEST_F(CommandLine, ExplainsLinesOfAFileAndKeepsTheirOrder) {
  write("texts", "a fine film\n\nso boring\r\n");
  const Answer answer = run("explain --method rollout --file " + path("texts"));
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
  const Answer answer = run("explain --method gae", "printf 'good\\nbad\\n' |");
  EXPECT_EQ(answer.code, 0) << answer.error;
  EXPECT_EQ(std::count(answer.out.begin(), answer.out.end(), '\n'), 2);
}

TEST_F(CommandLine, SayAloudThatALongTextWasCutOff) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "long ";
  write("text", text);
  const Answer answer = run("explain --method rollout --file " + path("text"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  ASSERT_FALSE(json["notes"].empty());
  EXPECT_THAT(json["notes"][0].get<std::string>(), HasSubstr("cut off"));
}

TEST_F(CommandLine, EveryMethodRuns) {
  const Answer list = run("methods --json");
  const auto methods = nlohmann::json::parse(list.out);
  EXPECT_GE(methods.size(), 11u);
  std::string names;
  for (const auto& method : methods) {
    names += (names.empty() ? "" : ",") + method["name"].get<std::string>();
  }
  const Answer answer = run("explain 'not bad at all' --json - --method " + names);
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_EQ(nlohmann::json::parse(answer.out)["attributions"].size(), methods.size());
}

TEST_F(CommandLine, OptionsAndPresetsReachTheirMethod) {
  const Answer answer =
      run("explain good --method rollout,grad-sam --option rollout.preset=vit-explain "
          "--option rollout.discard=0.5 --option grad-sam.axis=key --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["attributions"][0]["options"]["fusion"], "max");
  EXPECT_EQ(json["attributions"][0]["options"]["discard"], 0.5);
  EXPECT_EQ(json["attributions"][1]["options"]["axis"], "key");
}

TEST_F(CommandLine, TargetsAreLabelsOrNumbers) {
  const Answer answer = run("explain good --method rollout --target positive --json -");
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_EQ(nlohmann::json::parse(answer.out)["target"]["index"], 1);
}

TEST_F(CommandLine, TraceSavesMapsAndGradients) {
  const Answer answer =
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
  const Answer answer =
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
}

TEST_F(CommandLine, InspectShowsWhereRelevanceGoes) {
  const Answer table = run("inspect --relevance --policy lrp-orig");
  EXPECT_EQ(table.code, 0) << table.error;
  EXPECT_THAT(table.out, HasSubstr("positive-by-sign"));
  EXPECT_THAT(table.out, HasSubstr("adds"));
  const Answer json = run("inspect --relevance --json --precision double --text 'A dull film'");
  const auto report = nlohmann::json::parse(json.out);
  EXPECT_EQ(report["policy"], "chefer");
  EXPECT_NEAR(report["at_first_layer"].get<double>(), 1, 1e-6);
}

TEST_F(CommandLine, PoliciesComeFromFilesToo) {
  write("mine.json", R"({"base": "attn-lrp", "rules": [{"operator": "Softmax", "rule": "stop"}]})");
  const Answer answer = run(
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
  expect_refusal(picture + "--words max", "only texts have them");
  expect_refusal(picture + "--grain blocks", "--svg and --png");
}

TEST_F(CommandLine, DoublePrecisionAgreesWithSingle) {
  const auto scores = [&](const std::string& precision) {
    const Answer answer = run(
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

TEST_F(CommandLine, HeadsMeasuresACorpus) {
  write("texts.tsv", "sentence\tlabel\na warm , funny film\t1\n\ndull and flat\tnegative\r\n");
  const Answer answer = run("heads --measure michel,entropy --prune --prune-step 50 --keep-one " +
                            path("texts.tsv") + " --json " + path("heads.json") + " --svg " +
                            path("heads.svg") + " --png " + path("heads.png"));
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
  const Answer answer = run("heads - --measure michel,confidence,voita-lrp --limit 2 --json -",
                            R"(printf '%s\n' '{"text": "good", "label": 1}' 'so dull' 'unread' |)");
  ASSERT_EQ(answer.code, 0) << answer.error;
  const auto json = nlohmann::json::parse(answer.out);
  EXPECT_EQ(json["examples"], 2);
  EXPECT_EQ(json["labelled"], 1);
  EXPECT_THAT(json["notes"][0].get<std::string>(), HasSubstr("1 of 2 texts have no label"));
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
    const Answer answer = run("heads " + arguments + " --measure michel,confidence --json -");
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

TEST_F(CommandLine, OneHeadOfOneLayerIsDrawn) {
  const std::string picture = WHYFORMER_SOURCE_DIR "/tests/data/pictures/objects/object-000.png";
  for (const std::string& input : {std::string("'so bad it is good'"), picture}) {
    const Answer answer = run("explain " + input + " --method rollout --attention-svg " +
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
  const Answer answer =
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

TEST_F(CommandLine, ExplainsAPictureWithNoModelGiven) {
  const std::string picture = WHYFORMER_SOURCE_DIR "/tests/data/pictures/pairs/pair-000.png";
  const Answer answer = run("explain " + picture + " --top 2 --html " + path("a.html") + " --png " +
                            path("a.png") + " --json " + path("a.json"));
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
  const Answer answer =
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
                 "leave out --pair");
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

TEST_F(CommandLine, HelpIsThereForEveryCommand) {
  for (const std::string command :
       {"", "explain", "heads", "tcav", "trace", "tokenize", "inspect", "methods"}) {
    const Answer answer = run(command + " --help");
    EXPECT_EQ(answer.code, 0) << command;
    EXPECT_THAT(answer.out, HasSubstr("--help")) << command;
  }
}

TEST_F(CommandLine, RefusesWithOneClearLine) {
  expect_refusal("explain x --model /no/such/folder", "there is no '/no/such/folder'");
  expect_refusal("explain x --model " + path("."), "has no config.json");
  expect_refusal("explain ''", "the text is empty");
  expect_refusal("explain '   '", "the text is empty");
  expect_refusal("explain x --method rolout", "there is no method 'rolout'; known are rollout");
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
  expect_refusal("", "subcommand");
}

TEST_F(CommandLine, RefusesBrokenModels) {
  const auto copy = [&](const std::string& name) {
    std::filesystem::copy(kTinyBert, folder_ / name);
    std::filesystem::copy(WHYFORMER_SOURCE_DIR "/models/sentiment/tokenizer.json",
                          folder_ / name / "tokenizer.json");
    return path(name);
  };
  std::string folder = copy("truncated");
  std::filesystem::resize_file(folder + "/model.safetensors", 1000);
  expect_refusal("explain x --model " + folder, "model.safetensors");
  folder = copy("badjson");
  std::ofstream(folder + "/config.json") << "{\"model_type\": ";
  expect_refusal("explain x --model " + folder, "'config.json' is not valid JSON");
  folder = copy("unknown");
  std::ofstream(folder + "/config.json") << R"({"model_type": "mystery"})";
  expect_refusal("explain x --model " + folder, "models of type 'mystery' are not supported");
  folder = copy("wrongshape");
  std::ofstream(folder + "/config.json")
      << R"({"model_type": "bert", "hidden_size": 24, "num_hidden_layers": 2,
             "num_attention_heads": 2, "intermediate_size": 99})";
  expect_refusal(
      "explain x --model " + folder,
      "intermediate.dense.weight' has the shape [40, 24] but config.json asks for [99, 24]");
  folder = copy("nohead");
  std::ofstream(folder + "/config.json")
      << R"({"model_type": "roberta", "architectures": ["RobertaForSequenceClassification"]})";
  expect_refusal("explain x --model " + folder, "lacks the tensor 'classifier.out_proj.weight'");
  folder = copy("toomanylayers");
  std::ofstream(folder + "/config.json")
      << R"({"model_type": "bert", "hidden_size": 24, "num_hidden_layers": 3,
             "num_attention_heads": 2, "intermediate_size": 40})";
  expect_refusal("explain x --model " + folder, "lacks the tensor 'bert.encoder.layer.2");
}

TEST_F(CommandLine, RefusesOnnxFilesThatCannotBeUsed) {
  const std::string golden = WHYFORMER_SOURCE_DIR "/tests/golden/onnx/QLinearAdd_int8.onnx";
  write("text.onnx", "This is a text, whatever its name says.\n");
  write("empty.onnx", "");
  std::filesystem::copy(golden, folder_ / "whole.onnx");
  std::filesystem::copy(golden, folder_ / "cut.onnx");
  std::filesystem::resize_file(folder_ / "cut.onnx", 300);
  for (const std::string& command : {"explain x --json " + path("out"), "inspect" + std::string(),
                                     "trace x --save " + path("out")}) {
    const std::string with = command + " --model ";
    expect_refusal(with + path("none.onnx"), "there is no '" + path("none.onnx") + "'");
    expect_refusal(with + path("text.onnx"),
                   "'" + path("text.onnx") + "': this is not a whole ONNX file");
    expect_refusal(with + path("empty.onnx"), "not a whole ONNX file");
    expect_refusal(with + path("cut.onnx"), "not a whole ONNX file");
  }
  expect_refusal("explain x --model " + path("whole.onnx"), "no tokenizer: put tokenizer.json");
  expect_refusal("tokenize x --model " + path("none.onnx"),
                 "there is no '" + path("none.onnx") + "'");
  expect_refusal("tokenize x --model " + path("whole.onnx"), "no tokenizer: put tokenizer.json");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
  // With a tokenizer it still is no model of texts; the tokenizer itself can be used.
  std::filesystem::copy(WHYFORMER_SOURCE_DIR "/models/sentiment/tokenizer.json",
                        folder_ / "tokenizer.json");
  expect_refusal("explain x --model " + path("whole.onnx"), "a text model takes token ids");
  EXPECT_EQ(run("tokenize x --model " + path("whole.onnx")).code, 0);
}

TEST_F(CommandLine, LeavesNoHalfWrittenFilesWhenItFails) {
  expect_refusal("explain x --target 7 --json " + path("a.json") + " --html " + path("a.html"),
                 "target");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.json"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a.html"));
}

TEST_F(CommandLine, AClosedPipeEndsItQuietly) {
  const Answer answer =
      run("explain --method rollout | head -1", "yes 'a good film' | head -200 |");
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.error, "");
}

}  // namespace
}  // namespace whyformer::cli
