// Corpora as people keep them: nothing is mixed up, and one bad item costs that item alone.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "command_line_fixture.h"

namespace whyformer::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const std::string kObjects = std::string(WHYFORMER_SOURCE_DIR) + "/tests/data/pictures/objects";
const std::string kQuick = "evaluate --random 0 --no-reversed --json - ";

class Corpora : public CommandLine {
 protected:
  json evaluated(const std::string& arguments) const {
    const CommandResult answer = run(kQuick + arguments);
    EXPECT_EQ(answer.code, 0) << answer.error;
    return json::parse(answer.out, nullptr, false);
  }
  static json values(const json& evaluation, size_t input) {
    return evaluation["inputs"][input]["methods"][0]["values"];
  }
  static std::string problem(const json& evaluation, size_t input) {
    return evaluation["inputs"][input]["problem"].get<std::string>();
  }
  void copy_object(int number, const std::string& to) const {
    fs::create_directories(fs::path(path(to)).parent_path());
    fs::copy_file(fmt::format("{}/object-{:03}.png", kObjects, number), path(to));
  }
  void copy_mask(int number, const std::string& to) const {
    fs::create_directories(fs::path(path(to)).parent_path());
    fs::copy_file(fmt::format("{}/masks/object-{:03}.png", kObjects, number), path(to));
  }
};

const std::string kDeletion = "--method gradient-x-input --metric deletion ";

TEST_F(Corpora, KeptInputsAreKnownByWhatTheyHoldAndNotByTheirLine) {
  write("warm.txt", "a warm and funny film\nso bad it is good\n");
  write("dull.txt", "a dull and stale film\nso bad it is good\n");
  const std::string keep = kDeletion + "--keep " + path("kept.jsonl") + " -f ";
  const json warm = evaluated(keep + path("warm.txt"));
  const std::string of_warm = read("kept.jsonl");
  const CommandResult answer = run(kQuick + keep + path("dull.txt"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.error, HasSubstr("1 input kept"));
  const json dull = json::parse(answer.out);
  const json alone = evaluated(kDeletion + "-f " + path("dull.txt"));
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(values(dull, i), values(alone, i)) << i;
  EXPECT_NE(values(dull, 0), values(warm, 0));
  EXPECT_TRUE(read("kept.jsonl").starts_with(of_warm.substr(0, of_warm.find('\n'))));
  EXPECT_EQ(evaluated(keep + path("warm.txt"))["methods"][0]["cells"], warm["methods"][0]["cells"]);
}

TEST_F(Corpora, KeptInputsOfOtherLabelsAndOtherKnownReasonsAreMeasuredAnew) {
  const std::string line = R"({"text": "a warm and funny film", "label": "negative")";
  write("texts.jsonl", line + R"(, "rationales": [[2, 6]]})" + "\n");
  const std::string arguments =
      "--method gradient-x-input --metric deletion,pointing-game --keep " + path("kept.jsonl") +
      " -f " + path("texts.jsonl");
  const json own = evaluated(arguments);
  const json labelled = evaluated(arguments + " --labels");
  EXPECT_EQ(labelled["inputs"][0]["target"], "negative");
  EXPECT_NE(values(labelled, 0), values(own, 0));
  write("texts.jsonl", line + R"(, "rationales": [[17, 21]]})" + "\n");
  const json elsewhere = evaluated(arguments);
  EXPECT_EQ(values(elsewhere, 0)[0], values(own, 0)[0]);
  EXPECT_EQ(read("kept.jsonl").find("\"content\""), read("kept.jsonl").find('\n') + 2);
  EXPECT_EQ(std::ranges::count(read("kept.jsonl"), '\n'), 4) << "a question and three inputs";
}

TEST_F(Corpora, KeptInputsOfAnotherQuestionAreRefusedByWhatDiffers) {
  write("texts.txt", "good\n\nso bad it is good\n");
  const std::string keep = " --keep " + path("kept.jsonl") + " -f " + path("texts.txt");
  evaluated(kDeletion + keep);
  expect_refusal("evaluate " + kDeletion + "--seed 1" + keep, "seed");
  expect_refusal("evaluate --method gradient-x-input --metric insertion" + keep, "metrics");
  write("kept.jsonl", "anything\n");
  expect_refusal("evaluate " + kDeletion + keep, "no file of kept inputs");
}

TEST_F(Corpora, InputsWithAProblemAreNotKept) {
  write("texts.jsonl", "{\"text\": \"so bad it is good\"}\n{\"label\": 1}\n");
  evaluated(kDeletion + "--keep " + path("kept.jsonl") + " -f " + path("texts.jsonl"));
  EXPECT_THAT(read("kept.jsonl"), Not(HasSubstr("expected JSON")));
}

const std::string kPointing = "--method rollout --metric pointing-game,sparseness ";

TEST_F(Corpora, TheFolderOfMasksInsideThatOfPicturesIsNoLabel) {
  for (int i = 0; i < 2; ++i) {
    copy_object(i, fmt::format("zebra/{}.png", i));
    copy_mask(i, fmt::format("masks/zebra/{}.png", i));
    copy_mask(i, fmt::format("masks/{}.png", i));
  }
  const json found = evaluated(kPointing + "--pictures " + path("") + " --masks " + path("masks"));
  EXPECT_EQ(found["inputs"].size(), 2u) << "masks are no pictures";
}

TEST_F(Corpora, MasksStandWhereTheirPicturesStand) {
  copy_object(0, "pictures/cat/1.png");
  copy_object(4, "pictures/dog/1.png");
  copy_mask(0, "masks/cat/1.png");
  copy_mask(4, "masks/dog/1.png");
  const std::string metric = "--method rollout --metric roc-auc,relevance-mass ";
  const std::string both = metric + "--pictures " + path("pictures") + " --masks ";
  const json found = evaluated(both + path("masks"));
  for (const auto& [label, place] : {std::pair("cat", 0), std::pair("dog", 1)}) {
    const json alone = evaluated(metric + "--pictures " + path("pictures") + "/" + label +
                                 " --masks " + path("masks") + "/" + label);
    EXPECT_EQ(values(found, place), values(alone, 0)) << label;
    EXPECT_TRUE(values(found, place)[0].is_number());
  }
  // By name alone nobody knows whose mask it is, also where one of the two is looked at.
  copy_mask(0, "flat/1.png");
  expect_refusal(kQuick + both + path("flat"), "may be the mask of");
  expect_refusal(kQuick + both + path("flat") + " --examples 1", "may be the mask of");
  fs::rename(path("pictures/dog/1.png"), path("pictures/dog/2.png"));
  EXPECT_TRUE(values(evaluated(both + path("flat")), 0)[0].is_number()) << "no other has the name";
  const std::string cats = path("pictures/cat");
  expect_refusal(kQuick + metric + "--pictures " + cats + " --masks " + cats,
                 "holds the pictures themselves");
}

TEST_F(Corpora, AListOfPicturesMayHaveAHeading) {
  const std::string list = "--pictures " + kObjects + "/objects.tsv --examples 3 ";
  const CommandResult answer = run(kQuick + kPointing + list);
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.error, HasSubstr("'picture' names the picture, 'class' its label, 'mask'"));
  const json found = json::parse(answer.out);
  ASSERT_EQ(found["inputs"].size(), 3u);
  EXPECT_TRUE(values(found, 0)[0].is_number()) << "the list names the masks";
  EXPECT_EQ(values(found, 0)[0],
            values(evaluated(kPointing + list + "--masks " + kObjects + "/masks"), 0)[0]);
  const json labelled = evaluated(kPointing + list + "--labels");
  EXPECT_EQ(labelled["inputs"][1]["target"], "dalmatian");
}

TEST_F(Corpora, ListsOfPicturesAreNeverReadAsTexts) {
  copy_object(0, "a.png");
  write("list.tsv", "filename\tanimal\na.png\tzebra\nno picture\tzebra\n{\"text\": \"good\"}\n");
  const CommandResult answer = run(kQuick + kPointing + "--pictures " + path("list.tsv"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  EXPECT_THAT(answer.error, HasSubstr("line 1 names no picture and is left out as a heading"));
  const json found = json::parse(answer.out);
  ASSERT_EQ(found["inputs"].size(), 3u);
  EXPECT_EQ(problem(found, 0), "");
  EXPECT_EQ(problem(found, 1), "'no picture' names no picture");
  EXPECT_THAT(problem(found, 2), HasSubstr("expected JSON such as {\"picture\""));
  write("texts.tsv", "good\tpositive\nso bad it is good\tpositive\n");
  expect_refusal(kQuick + kPointing + "--pictures " + path("texts.tsv"), "names no pictures");
}

TEST_F(Corpora, OneBadItemCostsThatItemAlone) {
  for (int i = 0; i < 3; ++i) copy_object(i, fmt::format("pictures/{}.png", i));
  copy_mask(0, "masks/0.png");
  write("masks/1.png", "no picture at all");
  const json found =
      evaluated(kPointing + "--pictures " + path("pictures") + " --masks " + path("masks"));
  ASSERT_EQ(found["inputs"].size(), 3u);
  EXPECT_TRUE(values(found, 0)[0].is_number());
  EXPECT_TRUE(values(found, 1)[0].is_null());
  EXPECT_TRUE(values(found, 1)[1].is_number()) << "the mask does not matter here";
  EXPECT_THAT(found["inputs"][1]["notes"][0].get<std::string>(),
              testing::AllOf(HasSubstr("1.png"), HasSubstr("localisation is not defined")));
  EXPECT_TRUE(values(found, 2)[0].is_null()) << "without a mask";
  EXPECT_TRUE(values(found, 2)[1].is_number());
  EXPECT_THAT(found["inputs"][2]["notes"][0].get<std::string>(), HasSubstr("has no mask"));

  write("long.txt", std::string(20'000'000, 'a') + "\ngood film\n");
  const json lines = evaluated(kDeletion + "-f " + path("long.txt"));
  ASSERT_EQ(lines["inputs"].size(), 2u);
  EXPECT_THAT(problem(lines, 0), HasSubstr("is longer than 16 MB"));
  EXPECT_EQ(problem(lines, 1), "");
}

TEST_F(Corpora, ARowWithTooFewCellsKeepsItsPlace) {
  const std::string wine = std::string(WHYFORMER_SOURCE_DIR) + "/examples/data/wine";
  std::ifstream file(wine + ".csv");
  std::string table, line;
  for (int i = 0; i < 6 && std::getline(file, line); ++i) {
    table += line + "\n";
    if (i == 2) table += "1,2,3\n";
  }
  write("rows.csv", table);
  const json found = evaluated("--method gae --metric sparseness --table " + path("rows.csv") +
                               " --model " + wine + ".onnx");
  ASSERT_EQ(found["inputs"].size(), 6u);
  EXPECT_EQ(found["inputs"][2]["name"], "row 2");
  EXPECT_THAT(problem(found, 2), HasSubstr("rows.csv, line 4: 3 cells where the first line has"));
  for (const size_t row : {0, 1, 3, 4, 5}) EXPECT_EQ(problem(found, row), "") << row;
}

TEST_F(Corpora, OddReasonsAndScoresAreNotedForEachExample) {
  write("texts.jsonl", R"({"text": "a warm and funny film", "rationales": []}
{"text": "a warm and funny film", "rationales": [[6, 2]]}
{"text": "a warm and funny film", "rationales": [[100, 106]]}
{"text": "good", "rationales": [[0, 4]]}
{"text": "a warm and funny film", "rationales": [[2, 6]]}
)");
  const CommandResult answer =
      run("evaluate --random 0 --no-reversed --method gradient-x-input --metric "
          "pointing-game,deletion --json " +
          path("e.json") + " -f " + path("texts.jsonl"));
  ASSERT_EQ(answer.code, 0) << answer.error;
  const json found = json::parse(read("e.json"));
  const auto notes = [&](size_t input) { return found["inputs"][input]["notes"].dump(); };
  EXPECT_THAT(notes(0), HasSubstr("the rationale is empty"));
  EXPECT_THAT(notes(1), HasSubstr("the rationale [6, 2] has no characters"));
  EXPECT_THAT(notes(2), HasSubstr("the rationale [100, 106] leaves the text of 21 characters"));
  for (size_t i = 0; i < 3; ++i) EXPECT_THAT(notes(i), HasSubstr("localisation is not defined"));
  EXPECT_THAT(notes(3), HasSubstr("one unit can be hidden"));
  EXPECT_EQ(found["inputs"][4]["notes"].size(), 0u);
  EXPECT_THAT(answer.out, HasSubstr("4 of 5 inputs have notes"));
  EXPECT_THAT(answer.out, HasSubstr("line 2: the rationale [6, 2]"));
}

TEST_F(Corpora, ProblemsAreListedAndTheirPlaceStandsOnce) {
  std::string lines = "{\"text\": \"a warm and funny film\"}\n";
  for (int i = 0; i < 12; ++i) lines += "{\"label\": 1}\n";
  write("texts.jsonl", lines);
  const CommandResult answer =
      run("evaluate --random 0 --no-reversed " + kDeletion + "-f " + path("texts.jsonl"));
  EXPECT_THAT(answer.out, HasSubstr("12 of 13 inputs could not be evaluated:"));
  EXPECT_THAT(answer.out, HasSubstr("line 11: expected JSON"));
  EXPECT_THAT(answer.out, Not(HasSubstr("line 12: expected JSON")));
  EXPECT_THAT(answer.out, HasSubstr("and 2 more."));
  EXPECT_THAT(answer.out, Not(HasSubstr("line 2: line 2")));
}

TEST_F(Corpora, WrongAndRepeatedNamesAreRefusedBeforeAnythingIsExplained) {
  write("texts.txt", "good film\nbad film\n");
  const std::string texts = " -f " + path("texts.txt");
  expect_refusal("evaluate --method gae --hiding nope" + texts, "no way of hiding 'nope'");
  expect_refusal("evaluate --method gae --hiding mask,mask" + texts, "'mask' is asked for twice");
  expect_refusal("evaluate --method gae --metric iou,iou" + texts, "'iou' is asked for twice");
  const CommandResult grey = run("evaluate --method gae --hiding grey" + texts);
  EXPECT_EQ(grey.code, 2);
  EXPECT_THAT(grey.error, HasSubstr("none of the inputs could be evaluated"));
}

}  // namespace
}  // namespace whyformer::cli
