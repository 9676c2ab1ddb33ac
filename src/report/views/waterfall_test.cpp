#include "report/views/waterfall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/sample_explanations.h"
#include "tests/support/sample_rows.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Waterfall, StepsLeadFromTheValueDownToTheBase) {
  const Explanation explanation = row_sample();
  const Waterfall fall = waterfall_of(explanation, explanation.attributions[0]).value();
  EXPECT_EQ(fall.base, -1);
  EXPECT_EQ(fall.value, 0.375);
  struct Step {
    const char* text;
    double score, from, to;
  };
  const std::vector<Step> expected{{"married = no", 1, -0.625, 0.375},
                                   {"age = 39", 0.5, -1.125, -0.625},
                                   {"town = Saint-Rémy", -0.25, -0.875, -1.125},
                                   {"hours = 40.0", 0.125, -1, -0.875},
                                   {"capital-gain = missing", 0, -1, -1}};
  ASSERT_EQ(fall.steps.size(), expected.size());  // the class token has no share
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(fall.steps[i].text, expected[i].text);
    EXPECT_EQ(fall.steps[i].score, expected[i].score);
    EXPECT_EQ(fall.steps[i].from, expected[i].from);
    EXPECT_EQ(fall.steps[i].to, expected[i].to);
  }
  EXPECT_EQ(fall.axis.low, -1.125 - 0.075);
  EXPECT_EQ(fall.axis.high, 0.375 + 0.075);
}

TEST(Waterfall, BeyondTenTheLastStepSumsTheRest) {
  const Explanation explanation = wide_row_sample(500);
  const Waterfall fall = waterfall_of(explanation, explanation.attributions[0]).value();
  ASSERT_EQ(fall.steps.size(), 10);
  EXPECT_EQ(fall.steps[0].text, "column 0 = 0");
  EXPECT_EQ(fall.steps[1].text, "column 2 = 2");  // 1/3; column 1 has -1/4
  EXPECT_EQ(fall.steps[9].text, "491 other columns");
  EXPECT_EQ(fall.steps[9].unit, -1);
  EXPECT_NEAR(fall.steps[9].from, fall.base, 1e-12);
  double shown = 0, all = 0;
  for (size_t i = 0; i < 9; ++i) shown += fall.steps[i].score;
  for (const double score : explanation.attributions[0].scores) all += score;
  EXPECT_NEAR(fall.steps[9].score, all - shown, 1e-12);
}

TEST(Waterfall, TenColumnsAreAllShown) {
  const Explanation ten = wide_row_sample(10), one = wide_row_sample(1);
  EXPECT_EQ(waterfall_of(ten, ten.attributions[0])->steps.back().text, "column 9 = 9");
  EXPECT_EQ(waterfall_of(one, one.attributions[0])->steps.size(), 1);
}

TEST(Waterfall, ColumnsWithoutAScoreHaveNoStep) {
  Explanation explanation = row_sample();
  explanation.attributions[0].scores[3] = NAN;  // it had 0
  const Waterfall fall = waterfall_of(explanation, explanation.attributions[0]).value();
  EXPECT_EQ(fall.steps.size(), 4);
  EXPECT_EQ(fall.value, 0.375);
}

TEST(Waterfall, RefusesScoresThatDoNotAddUpAndNamesThoseThatDo) {
  const Explanation row = row_sample();
  EXPECT_EQ(waterfall_method(row, "").method, "kernel-shap");
  EXPECT_THAT([&] { waterfall_picture(row, PictureFormat::kSvg, "gae"); },
              ThrowsMessage<InvalidInput>(
                  AllOf(HasSubstr("'gae' do not add up"), HasSubstr("kernel-shap"))));
  EXPECT_THAT([&] { waterfall_picture(row, PictureFormat::kSvg, "saliency"); },
              ThrowsMessage<InvalidInput>(HasSubstr("no scores by 'saliency'")));
  Explanation fit = row_sample();
  fit.attributions[0].estimate->r_squared = 0.9;
  EXPECT_THAT([&] { waterfall_method(fit, ""); },
              ThrowsMessage<InvalidInput>(HasSubstr("do not add up")));
  Explanation gap = row_sample();
  gap.attributions[0].estimate->value = 0.5;
  EXPECT_FALSE(adds_up(gap.attributions[0]));
  Explanation broken = row_sample();
  broken.attributions[0].scores[1] = HUGE_VAL;
  EXPECT_FALSE(adds_up(broken.attributions[0]));
}

TEST(Waterfall, DrawsArrowsAsLongAsTheirScores) {
  const std::string svg = waterfall_picture(row_sample(), PictureFormat::kSvg);
  for (const char* said :
       {">married = no<", ">+1.000<", ">-0.250<", ">f(x) = 0.375<", ">base = -1.000<"}) {
    EXPECT_THAT(svg, HasSubstr(said));
  }
  // 460 pixels for the axis from -1.2 to 0.45.
  EXPECT_THAT(svg, HasSubstr("width=\"278.79\" height=\"2.86\""));  // the tip of 1
  EXPECT_TRUE(waterfall_picture(row_sample(), PictureFormat::kPng).starts_with("\x89PNG"));
}

TEST(Waterfall, AlsoOfWordsButNotOfPatches) {
  const std::string svg = waterfall_picture(estimate_sample(), PictureFormat::kSvg);
  EXPECT_THAT(svg, HasSubstr("other words"));
}

TEST(Waterfall, HostileNamesStayText) {
  const std::string svg = waterfall_picture(hostile_row_sample(), PictureFormat::kSvg);
  EXPECT_THAT(svg, testing::Not(HasSubstr("<img")));
  EXPECT_THAT(svg, testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(svg, testing::Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace whyformer::report
