#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/views/text.h"
#include "whyformer/concepts.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Two targets, two layers, and a concept of every verdict.
ConceptReport sample() {
  ConceptReport report;
  report.model = {"\x1b[2Jmodel", "<b>"};
  report.unit = "texts";
  report.layers = 4;
  report.counterparts = 50;
  report.permutations = 1000;
  report.random = {{"any", 300}};
  report.concepts = {{"praise <i>", 40},
                     {"weather", 40},
                     {"none", 40},
                     {"a name that is rather long, for a concept", 40}};
  report.targets = {{"positive", 60}, {"negative", 50}};
  for (const char* target : {"positive", "negative"}) {
    for (const int layer : {1, 3}) {
      int which = 0;
      for (const Verdict verdict : {Verdict::kSignificant, Verdict::kNotSignificant,
                                    Verdict::kNotLearnt, Verdict::kUndefined}) {
        ConceptTest test;
        test.concept_name = report.concepts[which++].first;
        test.layer = layer;
        test.target = target;
        test.verdict = verdict;
        test.held_out = {.accuracy = 0.9, .deviation = 0.02, .examples = 80, .p = 1e-9};
        test.mean = {.score = 0.97, .zero = 0, .magnitude = 0.123, .unit_magnitude = 0.05};
        test.deviation = 0.06;
        test.scores = {0.91, 1};
        test.random_scores = {0.2, 0.9};
        test.random_mean = 0.55;
        test.random_deviation = 0.4;
        if (verdict != Verdict::kUndefined) {
          test.t = 12;
          test.freedom = 98;
          test.t_test = CorrectedP{1e-12, 4e-12, 2e-12};
        }
        test.magnitude_permutation = CorrectedP{0.001, 0.004, 0.002};
        report.tests.push_back(test);
      }
      ConceptPair pair;
      pair.concept_name = "praise <i>";
      pair.against = "weather";
      pair.layer = layer;
      pair.target = target;
      pair.learnt = layer == 3;
      pair.sensitivity.score = 0.25;
      report.pairs.push_back(pair);
    }
  }
  report.notes = {"A note."};
  return report;
}

TEST(ConceptsTerminal, NoLineIsWiderThanTheTerminal) {
  for (const int width : {44, 60, 80, 133}) {
    std::istringstream text(to_terminal(sample(), {.colour = false, .width = width}));
    for (std::string line; std::getline(text, line);) EXPECT_LE(columns(line), width) << line;
  }
}

TEST(ConceptsTerminal, WithoutColourThereAreNoEscapes) {
  EXPECT_THAT(to_terminal(sample(), {.colour = false}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(to_terminal(sample(), {.colour = true}), HasSubstr("38;5;"));
}

TEST(ConceptsTerminal, ShowsNoScoreWhereThereIsNoDirection) {
  ConceptReport report = sample();
  report.tests = {report.tests[2]};
  report.pairs.clear();
  const std::string text = to_terminal(report, {.colour = false, .width = 100});
  EXPECT_THAT(text, HasSubstr("no direction"));
  EXPECT_THAT(text, Not(HasSubstr("0.97")));
}

TEST(ConceptsPicture, DrawsInBothFormats) {
  EXPECT_THAT(concepts_picture(sample(), PictureFormat::kSvg), StartsWith("<svg"));
  EXPECT_THAT(concepts_picture(sample(), PictureFormat::kPng), StartsWith("\x89PNG"));
  EXPECT_THROW(concepts_picture({}, PictureFormat::kSvg), InvalidInput);
}

TEST(ConceptsPage, HasThePlotAndEveryTestAndNoMarkupOfOthers) {
  const std::string page = to_html(sample());
  EXPECT_THAT(page, StartsWith("<!doctype html>"));
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("praise &lt;i&gt; against weather"));
  EXPECT_THAT(page, HasSubstr("negative, layer 3"));
  EXPECT_THAT(page, HasSubstr("0.97 ± 0.06"));
  EXPECT_THAT(page, HasSubstr("A note."));
  EXPECT_THAT(page, Not(HasSubstr("<i>")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
}

TEST(ConceptsPicture, EscapesMarkup) {
  const std::string svg = concepts_picture(sample(), PictureFormat::kSvg);
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, Not(HasSubstr("<i>")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
}

TEST(ConceptsJson, HasTheDocumentedKeys) {
  const auto json = nlohmann::json::parse(to_json(sample()));
  EXPECT_EQ(json["schema"], "whyformer.tcav/1");
  EXPECT_EQ(json["tests"].size(), 16u);
  const auto& test = json["tests"][0];
  EXPECT_EQ(test["concept"], "praise <i>");
  EXPECT_EQ(test["verdict"], "significant");
  EXPECT_EQ(test["score"], 0.97);
  EXPECT_EQ(test["magnitude"], 0.123);
  EXPECT_EQ(test["unit_magnitude"], 0.05);
  EXPECT_EQ(test["t_test"]["bonferroni"], 4e-12);
  EXPECT_EQ(test["scores"], (std::vector<double>{0.91, 1}));
  EXPECT_TRUE(test["score_permutation"].is_null());
  EXPECT_TRUE(json["tests"][2]["score"].is_null());  // no direction, no score
  EXPECT_TRUE(json["tests"][2]["scores"].is_null());
  EXPECT_TRUE(json["tests"][3]["t_test"].is_null());
  EXPECT_EQ(json["pairs"][1]["score"], 0.25);
  EXPECT_TRUE(json["pairs"][0]["score"].is_null());
}

}  // namespace
}  // namespace whyformer::report
