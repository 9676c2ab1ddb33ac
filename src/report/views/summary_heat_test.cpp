#include "report/views/summary_heat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/views/seriation.h"
#include "tests/support/sample_summaries.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> in_order(const std::vector<double>& numbers) {
  std::vector<std::vector<double>> rows;
  for (const double number : numbers) rows.push_back({number});
  std::vector<double> sorted;
  for (const size_t i : similarity_order(rows)) sorted.push_back(numbers[i]);
  if (sorted.size() > 1 && sorted.front() > sorted.back()) std::ranges::reverse(sorted);
  return sorted;
}

TEST(SimilarityOrder, NumbersOfTwoGroupsComeOutSorted) {
  EXPECT_THAT(in_order({10, 1, 12, 0, 2.5}), ElementsAre(0, 1, 2.5, 10, 12));
  EXPECT_THAT(in_order({3}), ElementsAre(3));
  EXPECT_TRUE(in_order({}).empty());
}

TEST(SimilarityOrder, EqualRowsAndBrokenNumbersEnd) {
  EXPECT_EQ(similarity_order(std::vector(50, std::vector<double>{1, 2})).size(), 50);
  EXPECT_EQ(similarity_order({{NAN}, {0}, {HUGE_VAL}}).size(), 3);
}

TEST(SummaryHeat, HasTheScoresOfEachInputAndTheirSum) {
  const std::vector<Explanation> rows{table_row(1, 2, {4, 0.5}), table_row(1, 2, {-4, NAN}),
                                      table_row(1, 2, {3, 0.25})};
  const SummaryHeat heat = summary_heat(summarise(rows));
  // Inputs 0 and 2 are alike.
  EXPECT_TRUE(heat.instances == (std::vector<int64_t>{0, 2, 1}) ||
              heat.instances == (std::vector<int64_t>{1, 2, 0}))
      << testing::PrintToString(heat.instances);
  for (size_t place = 0; place < 3; ++place) {
    const auto input = static_cast<size_t>(heat.instances[place]);
    const std::vector<double>& scores = rows[input].attributions[0].scores;
    EXPECT_EQ(heat.cells[0][place], scores[0]);
    EXPECT_EQ(heat.sums[place], scores[0] + (std::isnan(scores[1]) ? 0 : scores[1]));
    EXPECT_EQ(std::isnan(heat.cells[1][place]), input == 1);
  }
  EXPECT_EQ(heat.scale, 4);
}

TEST(SummaryHeat, OfVeryManyInputsSomeAreShown) {
  const Summary summary = summarise(std::vector(2000, table_row(1, 2, {1, 0.5})));
  EXPECT_EQ(summary_heat(summary).instances.size(), 1000);
  EXPECT_THAT(summary_picture(summary, SummaryPlot::kHeatMap, PictureFormat::kSvg),
              HasSubstr("1000 of 2000 inputs"));
}

TEST(SummaryHeat, DrawsInBothFormats) {
  const Summary summary = summarise(table_rows());
  EXPECT_THAT(summary_picture(summary, SummaryPlot::kHeatMap, PictureFormat::kSvg),
              testing::AllOf(HasSubstr(">hours<"), HasSubstr("60 inputs, like ones")));
  EXPECT_TRUE(
      summary_picture(summary, SummaryPlot::kHeatMap, PictureFormat::kPng).starts_with("\x89PNG"));
}

}  // namespace
}  // namespace whyformer::report
