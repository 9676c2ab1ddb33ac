#include "whyformer/compared_importances.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Explanation row_of(const std::vector<double>& scores) {
  Explanation row;
  row.units.push_back({.text = "[CLS]", .special = true});
  for (size_t i = 0; i < scores.size(); ++i)
    row.units.push_back({.text = "cell", .column = std::string(1, static_cast<char>('a' + i))});
  Attribution attribution;
  attribution.method = "some:preset";
  attribution.scores = {100};
  attribution.scores.insert(attribution.scores.end(), scores.begin(), scores.end());
  row.attributions.push_back(attribution);
  return row;
}

ImportanceReport report_of(const std::string& method, const std::vector<double>& values) {
  ImportanceReport report;
  report.method = method;
  report.score = method == "sage" ? "cross-entropy" : "accuracy";
  for (size_t i = 0; i < values.size(); ++i)
    report.columns.push_back({std::string(1, static_cast<char>('a' + i)), values[i], 0.1});
  return report;
}

TEST(ComparedImportances, OfExplanationsAreMeanMagnitudesWithoutSpecialTokens) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Explanation> rows{row_of({-1, 4, none}), row_of({3, -2, none})};
  const ImportanceSide side = importance_side(rows, "some:preset");
  EXPECT_THAT(side.names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(side.columns[0].value, 2);
  EXPECT_EQ(side.columns[1].value, 3);
  EXPECT_EQ(side.columns[0].rank, 2);
  EXPECT_EQ(side.columns[1].rank, 1);
  // Two rows: resamples have means 1, 2 and 3.
  EXPECT_EQ(side.columns[0].low, 1);
  EXPECT_EQ(side.columns[0].high, 3);
  EXPECT_FALSE(side.columns[2].value || side.columns[2].rank);
}

TEST(ComparedImportances, OfReportsHaveTheirNormalIntervals) {
  const ImportanceSide side = importance_side(report_of("permutation", {0.5, -0.25}));
  EXPECT_NEAR(*side.columns[0].low, 0.5 - 0.196, 1e-4);
  EXPECT_NEAR(*side.columns[0].high, 0.5 + 0.196, 1e-4);
  EXPECT_EQ(side.columns[1].rank, 2);
  EXPECT_EQ(side.what, "fall of accuracy");
  EXPECT_EQ(importance_side(report_of("sage", {1})).what, "saved cross-entropy");
}

TEST(ComparedImportances, StandInTheOrderOfTheirMeanRanks) {
  // Ranks of a, b, c: 3 1 2 and 2 1 3 and 3 2 1, so that b leads and c comes before a.
  const ComparedImportances found = compare_importances(
      {importance_side(report_of("permutation", {1, 3, 2})),
       importance_side(report_of("sage", {2, 3, 1})),
       importance_side(std::vector<Explanation>{row_of({1, 2, 3})}, "some:preset")});
  EXPECT_THAT(found.columns, ElementsAre("b", "c", "a"));
  for (const ImportanceSide& side : found.sides) EXPECT_EQ(side.names, found.columns);
  EXPECT_EQ(found.sides[1].columns[2].value, 2);
  EXPECT_EQ(found.sides[1].columns[2].rank, 2);
}

// Whatever the order of the columns.
TEST(ComparedImportances, EqualValuesShareTheMeanOfTheirRanks) {
  const ImportanceSide side = importance_side(report_of("permutation", {0, 2, 0, 5, 0}));
  std::vector<double> ranks;
  for (const RankedImportance& one : side.columns) ranks.push_back(*one.rank);
  EXPECT_THAT(ranks, ElementsAre(4, 2, 4, 1, 4));
  const ImportanceSide pair = importance_side(report_of("permutation", {1, 1}));
  EXPECT_EQ(pair.columns[0].rank, 1.5);
  EXPECT_EQ(pair.columns[1].rank, 1.5);
  EXPECT_THAT(to_terminal(compare_importances({pair})), HasSubstr("1.5"));
}

TEST(ComparedImportances, OfOtherColumnsAreRefused) {
  EXPECT_THROW(compare_importances({importance_side(report_of("sage", {1, 2})),
                                    importance_side(report_of("permutation", {1, 2, 3}))}),
               InvalidInput);
  EXPECT_THROW(importance_side(std::vector<Explanation>{row_of({1})}, "another"), InvalidInput);
}

TEST(ComparedImportances, AreReportedWithRanksValuesAndIntervals) {
  ComparedImportances found =
      compare_importances({importance_side(report_of("permutation", {0.5, 0.25}))});
  found.rows = 30;
  EXPECT_THAT(to_terminal(found), HasSubstr("1.   0.5 [0.304, 0.696]"));
  EXPECT_THAT(to_html(found), HasSubstr("<td class=\"number\">0.25 [0.054, 0.446]</td>"));
  EXPECT_THAT(to_json(found), HasSubstr("\"schema\": \"whyformer.compared-importances/1\""));
  EXPECT_THAT(to_terminal(found), HasSubstr("is the fall of accuracy."));
}

}  // namespace
}  // namespace whyformer
