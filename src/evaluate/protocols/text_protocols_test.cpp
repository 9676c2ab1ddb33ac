// ERASER and the perturbation of pairs, against their formulas in plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "api/explained_input.h"
#include "evaluate/protocols/protocol.h"
#include "tests/support/source_folder.h"
#include "tests/support/temporary_folder.h"
#include "whyformer/answers.h"
#include "whyformer/error.h"
#include "whyformer/protocols.h"

namespace whyformer {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class EraserFolder {
 public:
  EraserFolder() { std::filesystem::create_directory(path() / "docs"); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path() / name) << text;
  }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  const TemporaryFolder folder_;
};

std::string annotation(const std::string& id, const std::string& label,
                       const std::string& evidence) {
  return R"({"annotation_id": ")" + id + R"(", "classification": ")" + label +
         R"(", "query": "What?", "evidences": [[)" + evidence + "]]}\n";
}

std::string evidence(const std::string& document, int start, int end) {
  return R"({"docid": ")" + document + R"(", "start_token": )" + std::to_string(start) +
         R"(, "end_token": )" + std::to_string(end) + R"(, "text": ""})";
}

TEST(EraserFolders, WordsArePartedBySpacesAndLines) {
  const EraserFolder folder;
  folder.write("docs/a.txt", "it 's  great \n\n fun !\n");
  folder.write("test.jsonl", annotation("a.txt", "POS", evidence("a.txt", 2, 4)) + "\n" +
                                 annotation("a.txt", "POS", ""));
  const std::vector<EvaluationEntry> entries = read_eraser(folder.path());
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].problem, "");
  EXPECT_EQ(std::get<TextInput>(entries[0].input.input).text, "it 's great fun !");
  EXPECT_THAT(entries[0].input.words({}).marked, ElementsAre(false, false, true, true, false));
  EXPECT_EQ(entries[0].input.words({}).words[3].start, 12);
  EXPECT_EQ(entries[0].input.words({}).words[3].end, 15);
  EXPECT_EQ(std::get<std::string>(entries[0].input.label), "POS");
  // Without evidence the annotation is called as its document.
  EXPECT_EQ(std::ranges::count(entries[1].input.words({}).marked, true), 0);
}

TEST(EraserFolders, WhatIsBrokenKeepsItsPlace) {
  const EraserFolder folder;
  folder.write("docs/a.txt", "good film");
  folder.write("docs/empty.txt", " \n");
  folder.write(
      "val.jsonl",
      annotation("one", "POS", evidence("missing.txt", 0, 1)) + "{broken\n" +
          annotation("two", "POS", evidence("a.txt", 1, 5)) +
          annotation("three", "POS", evidence("../a.txt", 0, 1)) +
          annotation("four", "NEG", evidence("empty.txt", 0, 0)) +
          annotation("five", "NEG", evidence("a.txt", 0, 1) + "," + evidence("empty.txt", 0, 1)) +
          annotation("six", "NEG", evidence("a.txt", 0, 1)));
  const std::vector<EvaluationEntry> entries = read_eraser(folder.path(), "val");
  ASSERT_EQ(entries.size(), 7u);
  EXPECT_THAT(entries[0].problem, HasSubstr("there is no document"));
  EXPECT_EQ(entries[1].input.name, "line 2");
  EXPECT_THAT(entries[1].problem, HasSubstr("is no annotation"));
  EXPECT_THAT(entries[2].problem, HasSubstr("words 1 to 5 in a document of 2 words"));
  EXPECT_THAT(entries[3].problem, HasSubstr("not the name of a document"));
  EXPECT_THAT(entries[4].problem, HasSubstr("has no words"));
  EXPECT_THAT(entries[5].problem, HasSubstr("in 2 documents"));
  EXPECT_EQ(entries[6].problem, "");
  EXPECT_EQ(read_eraser(folder.path(), "val", 3).size(), 3u);
}

TEST(EraserFolders, EmptyOnesAreRefused) {
  const EraserFolder folder;
  EXPECT_THROW(read_eraser(folder.path()), FileError);
  folder.write("test.jsonl", "\n");
  EXPECT_THROW(read_eraser(folder.path()), InvalidInput);
}

EvaluationRequest text_request(const std::string& protocol) {
  EvaluationRequest request{.protocol = protocol, .random_rankings = 0};
  request.explain.methods = {{"gradient-x-input"}};
  return request;
}

const char* const kLongReview =
    "the film isn't bad at all , and it 's often a charming and affecting journey , even when the "
    "writer-director loses the thread ; i'd see it again";

// Words by white space, with what is marked.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ' ') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

std::vector<Unit> units_with_scores(const std::string& text, const TargetChoice& target,
                                    std::vector<double>& scores) {
  const ExplainRequest request{.methods = {{"gradient-x-input"}}, .target = target};
  const Explanation found = explain(Model::built_in(), TextInput{text, {}}, request)[0];
  scores = found.attributions[0].scores;
  return found.units;
}

// The largest score of the units inside each word, at least 0.
std::vector<double> word_scores(const std::string& text, const TargetChoice& target) {
  std::vector<double> scores, folded;
  const std::vector<Unit> units = units_with_scores(text, target, scores);
  int64_t start = 0;
  for (const std::string& word : words_of(text)) {
    const int64_t end = start + static_cast<int64_t>(word.size());
    double largest = 0;
    for (size_t i = 0; i < units.size(); ++i) {
      if (units[i].special || units[i].end <= start || units[i].start >= end) continue;
      largest = std::max(largest, scores[i]);
    }
    folded.push_back(largest);
    start = end + 1;
  }
  return folded;
}

std::vector<size_t> word_order(const std::vector<double>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

EvaluationInput review(const TargetChoice& label) {
  const std::string text = kLongReview;
  const auto at = static_cast<int64_t>(text.find("charming"));
  return {.name = "review",
          .input = TextInput{text, {}},
          .label = label,
          .words = words_of_spans({{at, at + 30, 0}})};
}

TEST(Eraser, TokenF1EqualsItsFormula) {
  const EvaluatedInput found =
      evaluate(Model::built_in(), review(int64_t{0}), text_request("eraser"));
  ASSERT_EQ(found.problem, "");
  const std::vector<bool> marked =
      review({}).words({.text = kLongReview, .units = {{.end = 1}}}).marked;
  const auto gold = static_cast<double>(std::ranges::count(marked, true));
  ASSERT_EQ(gold, 4);  // charming and affecting journey
  const std::vector<size_t> order = word_order(word_scores(kLongReview, int64_t{0}));
  double sum = 0, defined = 0;
  for (size_t i = 0; i < 16; ++i) {
    const size_t count = 5 * (i + 1);
    const MetricValue& value = found.methods[0].values[2 + i];
    if (count > order.size()) {
      EXPECT_FALSE(value) << count;  // fewer words than k
      continue;
    }
    double hits = 0;
    for (size_t k = 0; k < count; ++k) hits += marked[order[k]] ? 1 : 0;
    const double precision = hits / static_cast<double>(count), recall = hits / gold;
    const double f1 = hits > 0 ? 2 * precision * recall / (precision + recall) : 0;
    EXPECT_NEAR(*value, f1, 1e-12) << count;
    sum += f1;
    defined += 1;
  }
  EXPECT_NEAR(*found.methods[0].values[0], sum / defined, 1e-12);
  EXPECT_NEAR(*found.methods[0].values[1],
              *localisation("auprc", word_scores(kLongReview, int64_t{0}), marked), 1e-12);
}

// The probability of a label for tokens whose words are taken out: the model reads the rest.
TEST(Eraser, ComprehensivenessAndSufficiencyTakeWholeWordsOut) {
  const Model model = Model::built_in();
  // Words of one piece each, so that the text without them has the tokens of the others.
  const std::string text = "a good film with a bad end";
  const Answer whole = answers(model, {TextInput{text, {}}}).inputs[0];
  const auto best = std::ranges::max_element(whole.values) - whole.values.begin();
  const EvaluatedInput found = evaluate(model,
                                        EvaluationInput{.name = "x",
                                                        .input = TextInput{text, {}},
                                                        .label = int64_t{1 - best},
                                                        .words = words_of_spans({})},
                                        text_request("eraser"));
  ASSERT_EQ(found.problem, "");
  EXPECT_THAT(found.notes, Contains(HasSubstr("The rationale is empty")));
  EXPECT_FALSE(found.methods[0].values[0]);
  EXPECT_FALSE(found.methods[0].values[1]);
  const std::vector<std::string> words = words_of(text);
  const std::vector<size_t> order = word_order(word_scores(text, best));
  const auto probability = [&](size_t count, bool keep) {
    std::string rest;
    for (size_t word = 0; word < words.size(); ++word) {
      const bool first = std::find(order.begin(), order.begin() + count, word) !=
                         order.begin() + static_cast<int64_t>(count);
      if (first == keep) rest += (rest.empty() ? "" : " ") + words[word];
    }
    return answers(model, {TextInput{rest, {}}}).inputs[0].probabilities[best];
  };
  double comprehensiveness = 0, sufficiency = 0;
  for (const size_t count : {1, 1, 1, 1, 4}) {  // 1, 5, 10, 20 and 50 % of 7 words
    comprehensiveness += (whole.probabilities[best] - probability(count, false)) / 5;
    sufficiency += (whole.probabilities[best] - probability(count, true)) / 5;
  }
  EXPECT_NEAR(*found.methods[0].values[18], comprehensiveness, 1e-5);
  EXPECT_NEAR(*found.methods[0].values[19], sufficiency, 1e-5);
}

TEST(Eraser, LongDocumentsAreCutAndTheRationaleBeyondCountsAsNotFound) {
  std::string text = "good";
  for (int i = 0; i < 999; ++i) text += " film";
  const auto end = static_cast<int64_t>(text.size());
  const EvaluatedInput found = evaluate(Model::built_in(),
                                        {.name = "long",
                                         .input = TextInput{text, {}},
                                         .label = std::string("POS"),
                                         .words = words_of_spans({{0, 4, 0}, {end - 4, end, 0}})},
                                        text_request("eraser"));
  ASSERT_EQ(found.problem, "");
  EXPECT_THAT(found.notes,
              Contains(HasSubstr(
                  "of 1000 words. Cut off, and counted as not found: 1 word of the rationale")));
  // One of two can be found, among five words at best: F1 = 2 / 7.
  EXPECT_LE(*found.methods[0].values[2], 2.0 / 7 + 1e-12);
}

TEST(Eraser, ShortLabelsMeanTheOneThatBeginsSo) {
  const auto request = text_request("eraser");
  const Model model = Model::built_in();
  const EvaluatedInput named = evaluate(model, review(std::string("POS")), request);
  EXPECT_EQ(named.problem, "");
  EXPECT_NE(evaluate(model, review(std::string("MIXED")), request).problem, "");
  EXPECT_THAT(evaluate(model, review({}), request).problem, HasSubstr("needs the right label"));
  EvaluationInput one_token = review(int64_t{0});
  one_token.input = TextInput{"good", {}};
  one_token.words = words_of_spans({{0, 4, 0}});
  const EvaluatedInput one = evaluate(model, one_token, request);
  EXPECT_EQ(one.problem, "");
  EXPECT_FALSE(one.methods[0].values[0]);  // fewer than five words
}

TEST(VqaPerturbation, RefusesWhatIsNoPair) {
  EXPECT_THAT(evaluate(Model::built_in(),
                       EvaluationInput{.name = "x", .input = TextInput{"a fine film", {}}},
                       text_request("vqa-perturbation"))
                  .problem,
              HasSubstr("each side of a pair"));
}

TEST(VqaPerturbation, TakesUnitsOfOneSideOutAtTheAuthorsSteps) {
  const std::filesystem::path folder = source_folder() / "tests/golden/pairs";
  const Model clip = Model::load(folder / "model");
  const PictureWithText pair{PictureFile{folder / "picture.png"}, "a red ball on the grass"};
  const ExplainRequest asked{.methods = {{"gradient-x-input"}}};
  ExplainedInput explained(clip, pair, asked, WholeRun::kYes);
  const Explanation explanation = explained.explain(0);
  const std::vector<double>& scores = explanation.attributions[0].scores;
  auto& run = explained.whole();
  const EvaluatedInput found =
      evaluate(clip, {.name = "pair", .input = pair}, text_request("vqa-perturbation"));
  ASSERT_EQ(found.problem, "");
  size_t column = 4;  // areas under the answer; there is no label
  for (const int segment : {0, 1}) {
    std::vector<size_t> side;
    for (size_t i = 0; i < scores.size(); ++i) {
      const Unit& unit = explanation.units[i];
      if (!unit.special && unit.segment == segment) side.push_back(i);
    }
    for (const bool negative : {false, true}) {
      std::stable_sort(side.begin(), side.end());
      std::stable_sort(side.begin(), side.end(), [&](size_t a, size_t b) {
        return negative ? scores[a] > scores[b] : scores[a] < scores[b];
      });
      const std::vector<double> steps{0, .25, .5, .75, .8, .85, .9, .95, 1};
      std::vector<double> values;
      for (const double step : steps) {
        std::vector<bool> removed(scores.size(), false);
        const auto kept = static_cast<size_t>((1 - step) * static_cast<double>(side.size()));
        for (size_t i = kept; i < side.size(); ++i) removed[side[i]] = true;
        values.push_back(
            run.answers({run.input().hiding(removed, segment == 1 ? "delete" : "drop")})[0][0]);
      }
      double area = 0;
      for (size_t i = 1; i < steps.size(); ++i) {
        area += (steps[i] - steps[i - 1]) * (values[i] + values[i - 1]) / 2;
      }
      EXPECT_FALSE(found.methods[0].values[column - 4]);
      EXPECT_NEAR(*found.methods[0].values[column], area, 1e-5);
      ++column;
    }
  }
}

TEST(MarkedWords, AreByWhiteSpaceAndCountCodePoints) {
  Explanation explanation{.text = "  é b\tccc", .units = {{.text = "é", .start = 2, .end = 3}}};
  const KnownWords words = words_of_spans({{4, 5, 0}});
  const MarkedWords found = words(explanation);
  ASSERT_EQ(found.words.size(), 3u);
  EXPECT_EQ(found.words[0].start, 2);
  EXPECT_EQ(found.words[0].end, 3);
  EXPECT_EQ(found.words[2].end, 9);
  EXPECT_THAT(found.marked, ElementsAre(false, true, false));
}

TEST(MarkedWords, NeedUnitsThatStandForCharacters) {
  const KnownWords words = words_of_spans({{0, 4, 0}});
  const Explanation picture{.text = "cat.png", .units = {{.text = "patch 0"}}};
  EXPECT_THROW(words(picture), InvalidInput);
}

}  // namespace
}  // namespace whyformer
