// Evaluations in reports: what is not defined is said to be so.
#include "report/views/evaluation_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "report/pictures/evaluation_curves.h"
#include "whyformer/method_agreement.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::ContainsRegex;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Two methods and the baseline; the second was measured for no input that the first was.
Evaluation without_common_inputs() {
  std::vector<EvaluatedInput> inputs;
  for (int i = 0; i < 8; ++i) {
    const double value = 1 + i;
    EvaluatedInput input{.name = std::to_string(i)};
    input.methods.push_back({.method = "a", .values = {i < 7 ? MetricValue(value) : std::nullopt}});
    input.methods.push_back({.method = "b", .values = {i < 7 ? std::nullopt : MetricValue(0.5)}});
    input.methods.push_back({.method = kRandomBaseline, .values = {value - 1.5 - i % 2}});
    inputs.push_back(input);
  }
  return summarise({}, inputs, {.metrics = {"comprehensiveness"}});
}

TEST(EvaluationView, MethodsWithoutCommonInputsAreNotCalledAlike) {
  const Evaluation evaluation = without_common_inputs();
  EXPECT_EQ(test_words(evaluation, 0),
            "comprehensiveness ↑: a is best, not compared with b for want of common inputs.");
  EXPECT_THAT(to_terminal(evaluation, {.width = 200}),
              HasSubstr("not compared with b for want of common inputs"));
}

// By its mean over ten easy inputs the first is best; on all of them the second is better.
TEST(EvaluationView, TheBestMeanIsNotCalledBetterThanAMethodThatWinsOnTheInputsOfBoth) {
  std::vector<EvaluatedInput> inputs;
  for (int i = 0; i < 20; ++i) {
    EvaluatedInput input{.name = std::to_string(i)};
    const bool easy = i < 10;
    const double value = easy ? 8 + i : 0;
    input.methods.push_back({.method = "a", .values = {easy ? MetricValue(value) : std::nullopt}});
    input.methods.push_back({.method = "b", .values = {value + (easy ? 1 + i / 64.0 : 0)}});
    inputs.push_back(input);
  }
  const Evaluation found = summarise({}, inputs, {.metrics = {"comprehensiveness"}});
  ASSERT_EQ(found.tests.size(), 1u);
  ASSERT_LT(*found.tests[0].p_value, 0.05);
  EXPECT_EQ(test_words(found, 0),
            "comprehensiveness ↑: a is best, but worse than b on the inputs that both have.");
}

TEST(EvaluationView, EveryMethodShowsItsReversedRankingWhereThereIsNoBaseline) {
  EvaluatedInput input{.name = "one"};
  input.methods.push_back({.method = "a", .values = {0.5}, .reversed = {0.125}});
  const Evaluation found = summarise({}, {input}, {.metrics = {"comprehensiveness"}});
  EXPECT_THAT(to_terminal(found, {.colour = false, .width = 100}), HasSubstr("reversed 0.125"));
}

TEST(EvaluationView, ADifferenceWithoutCommonInputsIsNullInJsonAndADashOnThePage) {
  const Evaluation evaluation = without_common_inputs();
  const auto json = nlohmann::json::parse(to_json(evaluation));
  ASSERT_EQ(json["tests"].size(), 2u);
  EXPECT_EQ(json["tests"][0]["other"], "b");
  EXPECT_TRUE(json["tests"][0]["difference"].is_null());
  EXPECT_TRUE(json["tests"][0]["p_value"].is_null());
  EXPECT_EQ(json["tests"][0]["inputs"], 0);
  EXPECT_TRUE(json["tests"][1]["difference"].is_number());
  const std::string page = to_html(evaluation);
  EXPECT_THAT(page, HasSubstr("<td class=\"number\">b</td><td class=\"number\">–</td>"));
  EXPECT_THAT(page, Not(HasSubstr("+0<")));
}

TEST(AgreementMatrix, ShowsMeansWithTheirIntervalsAndWhatRelabelledUnitsGive) {
  const AgreementCell cell{
      .mean = 0.375, .interval = Interval{.low = 0.25, .high = 0.5}, .inputs = 4};
  AgreementReport found{.methods = {"a", "b"}, .inputs = 4};
  AgreementCells cells, floor;
  cells[0] = cell;
  floor[0] = {.mean = -0.0625, .interval = Interval{.low = -0.5, .high = 0.125}, .inputs = 4};
  found.pairs = {{{}, cells}, {cells, {}}};
  found.ceiling = {{}, {}};
  found.floor = floor;
  const std::string drawn = agreement_picture(found, PictureFormat::kSvg);
  EXPECT_THAT(drawn, HasSubstr(">0.38<"));
  EXPECT_THAT(drawn, HasSubstr(">0.25, 0.50<"));
  EXPECT_THAT(drawn, HasSubstr("Units relabelled: -0.06 [-0.50, 0.12]"));
}

// Accuracy at three shares for two methods and the baseline; the last point of the second is not
// defined.
Evaluation with_a_curve() {
  Evaluation found;
  found.protocol = "protocol";
  found.methods = {"one", "two", kRandomBaseline};
  found.columns.push_back({.metric = "area", .hiding = ""});
  for (const double x : {0.0, 0.5, 1.0}) {
    found.columns.push_back(
        {.metric = "accuracy", .hiding = "", .point = CurvePoint{"accuracy <b>", x}});
  }
  const std::vector<std::vector<std::optional<double>>> means = {
      {50, 100, 50, 0}, {60, 100, 75, std::nullopt}, {10, 100, 25, 25}};
  found.costs.resize(3);
  for (const auto& row : means) {
    found.cells.emplace_back();
    for (const auto& mean : row) found.cells.back().push_back({.mean = mean});
  }
  return found;
}

// Ends of the lines of a colour.
std::vector<std::array<double, 4>> lines_of(const std::string& svg, Colour colour) {
  std::vector<std::array<double, 4>> found;
  const std::regex line(
      "<line x1=\"([0-9.]+)\" y1=\"([0-9.]+)\" x2=\"([0-9.]+)\" "
      "y2=\"([0-9.]+)\" stroke=\"" +
      css(colour) + "\"/>");
  for (std::sregex_iterator at(svg.begin(), svg.end(), line), end; at != end; ++at) {
    found.push_back(
        {std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), std::stod((*at)[4])});
  }
  return found;
}

TEST(EvaluationCurves, FollowTheMeansAndLeaveAGapWhereNothingIsDefined) {
  const std::vector<std::string> pictures = curve_pictures(with_a_curve());
  ASSERT_EQ(pictures.size(), 1u);
  // From 100 over 50 to 0 at equal distances is one straight line; the last is the legend's.
  const auto first = lines_of(pictures[0], kLightPalette.positive);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_NEAR(first[0][2] - first[0][0], first[1][2] - first[1][0], 0.02);
  EXPECT_NEAR(first[0][3] - first[0][1], first[1][3] - first[1][1], 0.02);
  EXPECT_GT(first[0][3], first[0][1]);
  // From 100 to 75: half as steep, and no second piece.
  const auto second = lines_of(pictures[0], kLightPalette.negative);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_NEAR(2 * (second[0][3] - second[0][1]), first[0][3] - first[0][1], 0.03);
}

TEST(EvaluationCurves, AreDrawnOnThePageAndInThePictureWithTheirMethods) {
  const Evaluation evaluation = with_a_curve();
  for (const std::string& drawn :
       {to_html(evaluation), evaluation_picture(evaluation, PictureFormat::kSvg)}) {
    EXPECT_EQ(lines_of(drawn, kLightPalette.positive).size(), 3u);
    EXPECT_THAT(drawn, HasSubstr("accuracy &lt;b&gt; ↑"));
    EXPECT_THAT(drawn, HasSubstr(">two</text>"));
  }
  EXPECT_THAT(to_html(without_common_inputs()), Not(HasSubstr("<h2>Curves</h2>")));
}

TEST(EvaluationCurves, MoreMethodsThanHuesDifferByTheirMarks) {
  Evaluation evaluation = with_a_curve();
  evaluation.methods = {"a", "b", "c", "d"};
  evaluation.cells.push_back(evaluation.cells[0]);
  const std::string picture = curve_pictures(evaluation)[0];
  const std::string blue = css(kLightPalette.positive);
  // Method "a" has discs, method "d" squares of the same hue.
  EXPECT_THAT(picture, ContainsRegex("<circle [^>]*fill=\"" + blue));
  EXPECT_THAT(picture, ContainsRegex("<rect [^>]*fill=\"" + blue));
}

TEST(RoundValues, ZeroHasNoSign) {
  EXPECT_FALSE(std::signbit(round_values(0, 100).front()));
  EXPECT_THAT(curve_pictures(with_a_curve())[0], Not(HasSubstr(">-0<")));
}

TEST(RoundValues, AreAtRoundDistancesWithinTheRange) {
  EXPECT_THAT(round_values(0, 1), ElementsAre(0, DoubleNear(0.2, 1e-12), DoubleNear(0.4, 1e-12),
                                              DoubleNear(0.6, 1e-12), DoubleNear(0.8, 1e-12), 1));
  EXPECT_THAT(round_values(5, 80), ElementsAre(20, 40, 60, 80));
  EXPECT_THAT(round_values(-30, 20), ElementsAre(-30, -20, -10, 0, 10, 20));
}

}  // namespace
}  // namespace whyformer::report
