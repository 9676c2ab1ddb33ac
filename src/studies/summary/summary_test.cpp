#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "report/terminal/printed_lines.h"
#include "report/views/beeswarm.h"
#include "report/views/text.h"
#include "tests/support/sample_explanations.h"
#include "tests/support/sample_pictures.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"
#include "whyformer/report.h"
#include "whyformer/summary.h"

namespace whyformer::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// A token per word, between special tokens; scores for all of them.
Explanation sentence(const std::string& text, const std::vector<double>& scores) {
  Explanation explanation;
  explanation.model = {"tiny", "bert"};
  explanation.text = text;
  explanation.units.push_back({"[CLS]", 0, 0, true, 0, -1});
  int64_t start = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const int64_t end = start + static_cast<int64_t>(word.size());
    explanation.units.push_back(
        {word, start, end, false, 0, static_cast<int64_t>(explanation.units.size()) - 1});
    start = end + 1;
  }
  explanation.units.push_back({"[SEP]", 0, 0, true, 0, -1});
  Attribution attribution;
  attribution.method = "partition-shap";
  attribution.is_signed = true;
  attribution.scores = scores;
  attribution.estimate = Estimate{.space = "logit"};
  explanation.attributions.push_back(attribution);
  explanation.output = {"logit", {0, 1}, {"negative", "positive"}};
  explanation.target = {1, "positive", 1, std::nullopt};
  return explanation;
}

// Scores by the shap package of five sentences for bert-base-uncased-SST-2.
std::vector<Explanation> five_sentences() {
  return {
      sentence("I like the movie",
               {-0.1295938, 0.56973486, 2.80113666, -0.14384789, 0.32744559, 0.17642172}),
      sentence("She hates the book",
               {0.04401805, 0.04553582, -3.53780551, -0.05805362, 0.00513234, 0.29313125}),
      sentence("This is so boring",
               {0.30843912, 0.25726233, 0.28962884, 0.28991709, -4.94576939, 0.3164889}),
      sentence("I cannot wait for next time", {-0.10001853, 0.30019138, 1.07011396, 1.28322518,
                                               0.11099461, 0.42985061, 0.22122911, -0.22297784}),
      sentence("You look extremely confused",
               {0.59630368, 0.48589848, 0.27857004, -0.05426301, -4.83736869, 0.56557564})};
}

Explanation table_row(double age, double hours, const std::vector<double>& scores) {
  Explanation explanation = sentence("x", {0, 0, 0});
  explanation.text = fmt::format("age = {:g}, hours = {:g}", age, hours);
  const std::string first = fmt::format("age = {:g}", age),
                    second = fmt::format("hours = {:g}", hours);
  const auto split = static_cast<int64_t>(first.size());
  explanation.units = {
      {first, 0, split, false, 0, 0},
      {second, split + 2, static_cast<int64_t>(explanation.text.size()), false, 0, 1}};
  explanation.attributions[0].scores = scores;
  return explanation;
}

// 60 rows whose scores follow the columns, many of them the same.
std::vector<Explanation> table_rows() {
  std::vector<Explanation> rows;
  for (int i = 0; i < 60; ++i) {
    rows.push_back(table_row(20 + i % 7, 40 - i % 3, {0.5 * (i % 7) - 1, 0.25 * (i % 3)}));
  }
  return rows;
}

std::vector<std::string> matches(const std::string& text, const std::string& expression) {
  std::vector<std::string> found;
  const std::regex wanted(expression);
  for (std::sregex_iterator i(text.begin(), text.end(), wanted), end; i != end; ++i)
    found.push_back((*i)[1]);
  return found;
}

TEST(Summary, AgreesWithTheBarPlotOfTheShapPackage) {
  const Summary summary =
      summarise(five_sentences(), "partition-shap", {.order = SummaryOrder::kTotal});
  // shap.plots.bar(values.abs.sum(0)), whose '' are the special tokens.
  const std::vector<std::pair<std::string, double>> expected{{"boring", 4.9458},
                                                             {"confused", 4.8374},
                                                             {"hates", 3.5378},
                                                             {"like", 2.8011},
                                                             {"special tokens", 2.7530},
                                                             {"wait", 1.2832},
                                                             {"cannot", 1.0701},
                                                             {"I", 0.8699},
                                                             {"You", 0.4859},
                                                             {"Sum of 12 other features", 2.5117}};
  ASSERT_EQ(summary.rows.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(summary.rows[i].name, expected[i].first);
    EXPECT_NEAR(summary.rows[i].total, expected[i].second, 5e-5) << expected[i].first;
  }
  EXPECT_EQ(summary.others, 12);
  EXPECT_EQ(summary.instances, 5);
  EXPECT_EQ(summary.target, "positive");
  EXPECT_EQ(summary.space, "logit");
}

TEST(Summary, MeansAreOverThePlacesWhereAFeatureStands) {
  const Summary summary = summarise(five_sentences(), "", {.rows = 100});
  EXPECT_EQ(summary.others, 0);
  ASSERT_EQ(summary.rows.size(), 21);
  for (const SummaryRow& row : summary.rows) {
    if (row.name == "I") {
      EXPECT_DOUBLE_EQ(row.mean, (0.56973486 + 0.30019138) / 2);
    }
    if (row.name == "special tokens") {
      EXPECT_EQ(row.points.size(), 10);
    }
  }
}

TEST(Summary, OthersAreSummedWithinEachInstance) {
  const Summary summary = summarise(five_sentences(), "", {.order = SummaryOrder::kTotal});
  const std::vector<SummaryPoint>& points = summary.rows.back().points;
  ASSERT_EQ(points.size(), 5);
  EXPECT_NEAR(points[0].score, -0.14384789 + 0.32744559, 1e-12);
  EXPECT_NEAR(points[1].score, 0.04553582 - 0.05805362 + 0.00513234, 1e-12);
}

TEST(Summary, CaseCountsAndATextLikeTheSpecialRowIsItsOwn) {
  const Summary summary = summarise(std::vector{sentence("The the", {1, 2, 4, 1})}, "");
  ASSERT_EQ(summary.rows.size(), 3);
  EXPECT_EQ(summary.rows[0].name, "the");
  EXPECT_EQ(summary.rows[1].name, "The");
}

TEST(Summary, ColumnsOfATableCarryTheirValuesAsLevels) {
  const Summary summary =
      summarise(std::vector{table_row(20, 40, {1, 0.1}), table_row(30, 40, {-2, 0.1}),
                            table_row(60, 40, {3, 0.1})},
                "");
  ASSERT_EQ(summary.rows.size(), 2);
  EXPECT_EQ(summary.rows[0].name, "age");
  EXPECT_DOUBLE_EQ(summary.rows[0].mean, 2);
  EXPECT_DOUBLE_EQ(*summary.rows[0].points[0].level, 0);
  EXPECT_DOUBLE_EQ(*summary.rows[0].points[1].level, 0.25);
  EXPECT_DOUBLE_EQ(*summary.rows[0].points[2].level, 1);
  EXPECT_DOUBLE_EQ(*summary.rows[1].points[0].level, 0.5);  // all the same
}

TEST(Summary, RefusesWhatHasNothingInCommon) {
  EXPECT_THROW(summarise({}, ""), InvalidInput);
  EXPECT_THROW(summarise(five_sentences(), "lime"), InvalidInput);
  EXPECT_THROW(summarise(std::vector{sample_explanation({.methods = 2})}, ""), InvalidInput);
  EXPECT_THROW(summarise(std::vector{picture_sample()}, picture_sample().attributions[0].method),
               InvalidInput);
}

TEST(Summary, ScoresThatAreNoNumbersAreCountedAndLeftOut) {
  const Summary summary = summarise(std::vector{sentence("a b", {NAN, 2, HUGE_VAL, -1.5e308})}, "");
  EXPECT_EQ(summary.left_out, 3);
  EXPECT_THAT(to_terminal(summary, {.width = 120}), HasSubstr("3 scores are not a number"));
}

TEST(Summary, NotesOfTheExplanationsAreKeptOnceWithHowManyTheyAreAbout) {
  std::vector<Explanation> explanations(3, sample_explanation({.methods = 1}));
  for (Explanation& explanation : explanations) {
    explanation.notes = {"It is a model for tests."};
    explanation.attributions[0].notes.clear();
  }
  explanations[1].notes.push_back("The last 12 tokens were cut off.");
  explanations[2].notes.push_back("The last 7 tokens were cut off.");
  explanations[2].attributions[0].notes = {"It \x1b did not converge."};
  const Summary summary = summarise(explanations);
  EXPECT_EQ(summary.notes,
            (std::vector<std::string>{"It is a model for tests.",
                                      "2 of 3 inputs: The last 12 tokens were cut off.",
                                      "1 of 3 inputs: It \x1b did not converge."}));
  EXPECT_NE(to_terminal(summary, {.colour = false})
                .find("2 of 3 inputs: The last 12 tokens were cut off."),
            std::string::npos);
  EXPECT_NE(to_html(summary).find("It \\x1b did not converge."), std::string::npos);
}

TEST(SummaryPicture, BarsAreAsLongAsTheirNumbers) {
  const Summary summary = summarise(five_sentences(), "", {.order = SummaryOrder::kTotal});
  const std::string svg = summary_picture(summary, SummaryPlot::kBar, PictureFormat::kSvg);
  const std::vector<std::string> widths = matches(svg, "width=\"([0-9.]+)\" height=\"18.00\"");
  ASSERT_EQ(widths.size(), 10);
  for (size_t i = 0; i < widths.size(); ++i) {
    EXPECT_NEAR(std::stod(widths[i]) / std::stod(widths[0]),
                summary.rows[i].total / summary.rows[0].total, 1e-4);
  }
  for (const char* said : {">+4.95<", ">+2.75<", ">+2.51<", ">Sum of 12 other features<"}) {
    EXPECT_THAT(svg, HasSubstr(said));
  }
}

TEST(SummaryPicture, PointsStandAtTheirScoresAndDoNotOverlap) {
  const Summary summary = summarise(table_rows(), "");
  const std::string svg = summary_picture(summary, SummaryPlot::kBeeswarm, PictureFormat::kSvg);
  const std::vector<std::string> xs = matches(svg, "cx=\"([-0-9.]+)\""),
                                 ys = matches(svg, "cy=\"([-0-9.]+)\""),
                                 radii = matches(svg, " r=\"([0-9.]+)\"");
  ASSERT_EQ(xs.size(), 120);
  for (size_t i = 0; i < xs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_GE(
          std::hypot(std::stod(xs[i]) - std::stod(xs[j]), std::stod(ys[i]) - std::stod(ys[j])),
          2 * std::stod(radii[i]) - 0.02);
    }
  }
  // Scores run along one line: the same difference of scores is the same distance.
  const std::vector<SummaryPoint>& points = summary.rows[0].points;
  const double slope = (std::stod(xs[6]) - std::stod(xs[0])) / (points[6].score - points[0].score);
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_NEAR(std::stod(xs[i]), std::stod(xs[0]) + slope * (points[i].score - points[0].score),
                0.03);
  }
}

TEST(SummaryPicture, PointsWithoutAPlaceAreCounted) {
  const Swarm swarm = swarm_of(std::vector<double>(20, 5.0), 2, 9);
  EXPECT_EQ(swarm.left_out, 15);  // at -8, -4, 0, 4 and 8
  EXPECT_EQ(swarm.half_height, 8);
  std::vector<Explanation> same(2000, table_row(1, 2, {1, 0.5}));
  EXPECT_THAT(summary_picture(summarise(same, ""), SummaryPlot::kBeeswarm, PictureFormat::kSvg),
              testing::ContainsRegex("[0-9]+ points found no place"));
}

TEST(SummaryPicture, DrawsAsPng) {
  const Summary summary = summarise(table_rows(), "");
  for (const SummaryPlot plot : {SummaryPlot::kBar, SummaryPlot::kBeeswarm}) {
    EXPECT_TRUE(summary_picture(summary, plot, PictureFormat::kPng).starts_with("\x89PNG"));
  }
}

TEST(SummaryTerminal, SaysTheSameNumbersWithinTheWidth) {
  const Summary summary = summarise(five_sentences(), "", {.order = SummaryOrder::kTotal});
  for (const int width : {44, 80, 133}) {
    const std::string text = to_terminal(summary, {.colour = false, .width = width});
    for (const std::string& line : lines_of(text)) EXPECT_LE(columns(line), width) << line;
    for (const char* said : {"boring", "+4.95", "Sum of 12 other", "+2.51"})
      EXPECT_THAT(text, HasSubstr(said));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

TEST(SummaryPage, HoldsBothPlotsForLightAndDarkAndATable) {
  const Summary summary = summarise(five_sentences(), "", {.order = SummaryOrder::kTotal});
  const std::string page = to_html(summary);
  EXPECT_EQ(matches(page, "(<svg )").size(), 4);
  EXPECT_EQ(matches(page, "(<tr>)").size(), 11);
  EXPECT_THAT(page, HasSubstr("<td>boring</td>"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(SummaryPage, MarkupInTextIsEscaped) {
  Explanation hostile = hostile_sample();
  hostile.attributions.resize(1);
  const Summary summary = summarise(std::vector{hostile}, "");
  for (const std::string& text :
       {to_html(summary), summary_picture(summary, SummaryPlot::kBar, PictureFormat::kSvg)}) {
    EXPECT_THAT(text, Not(HasSubstr("<img")));
    EXPECT_THAT(text, Not(HasSubstr("<script")));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
  for (const std::string& line : lines_of(without_colours(to_terminal(summary))))
    EXPECT_EQ(printable(line), line);
}

TEST(SummaryJson, HasTheDocumentedKeysAndExample) {
  const std::vector<Explanation> rows{table_row(20, 40, {1, 0.25}), table_row(30, 38, {-2, 0.5})};
  const std::string text = to_json(summarise(rows, ""));
  std::ifstream file(source_folder() / "docs/json.md");
  std::stringstream document;
  document << file.rdbuf();
  EXPECT_THAT(document.str(), HasSubstr("```json\n" + text + "\n```"));
  const json read = json::parse(text);
  for (const auto& [name, value] : read.items())
    EXPECT_THAT(document.str(), HasSubstr("- `" + name + "`")) << name;
  EXPECT_EQ(read["rows"][0]["points"][1]["score"], -2);
}

}  // namespace
}  // namespace whyformer::report
