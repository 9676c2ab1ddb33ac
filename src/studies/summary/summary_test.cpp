#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/sample_explanations.h"
#include "tests/support/sample_pictures.h"
#include "tests/support/sample_rows.h"
#include "tests/support/sample_summaries.h"
#include "tests/support/source_folder.h"
#include "whyformer/error.h"
#include "whyformer/model.h"
#include "whyformer/report.h"
#include "whyformer/summary.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;

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

// A score of [CLS] is none of a feature: text models have a row for such tokens, tables none.
TEST(Summary, AClassTokenIsNoFeatureOfATable) {
  Explanation row = row_sample();
  ASSERT_TRUE(row.units[0].special);
  for (Attribution& one : row.attributions) one.scores[0] = 9;
  const Summary summary = summarise(std::vector{row}, row.attributions[0].method);
  std::set<std::string> names, columns;
  for (const SummaryRow& one : summary.rows) names.insert(one.name);
  for (const Unit& unit : row.units)
    if (!unit.special) columns.insert(unit.column);
  EXPECT_EQ(names, columns);
}

TEST(Summary, HasTheValuesOfColumnsToTheLastDigit) {
  const Model model =
      Model::load(source_folder() / "tests/golden/onnx/models/ft-transformer.sdpa.legacy.14.onnx");
  std::vector<Explanation> rows;
  for (const double number : {1.23456789, 1.23456788}) {
    const RowInput row{{"a = b", "b", "c", "d", "k", "l", "m"}, {number, -1, 0.5, 2, 1, 0, 1}};
    rows.push_back(explain(model, row, {.methods = {{"saliency", {}}}})[0]);
  }
  const Summary summary = summarise(rows, "");
  const auto found = std::ranges::find(summary.rows, "a = b", &SummaryRow::name);
  ASSERT_NE(found, summary.rows.end());
  ASSERT_EQ(found->points.size(), 2u);
  EXPECT_EQ(found->points[0].value, 1.23456789);
  EXPECT_EQ(found->points[1].value, 1.23456788);
  EXPECT_EQ(found->points[0].level, 1);
  EXPECT_EQ(found->points[1].level, 0);
}

}  // namespace
}  // namespace whyformer::report
