#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <regex>

#include "report/views/estimate_view.h"
#include "tests/support/printed_lines.h"
#include "tests/support/sample_explanations.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// "aa bb cc …", a token per score, between the special tokens, which have scores too.
Explanation explanation_of(const std::vector<double>& scores, double base) {
  Explanation explanation;
  explanation.model = {"tiny", "bert"};
  Attribution attribution;
  attribution.method = "exact-shap";
  attribution.is_signed = true;
  attribution.scores = scores;
  double value = base;
  for (size_t i = 0; i < scores.size(); ++i) {
    value += scores[i];
    if (i == 0 || i + 1 == scores.size()) {
      explanation.units.push_back({i == 0 ? "[CLS]" : "[SEP]", 0, 0, true, 0, -1});
      continue;
    }
    const auto word = static_cast<int64_t>(i) - 1;
    const std::string text(2, static_cast<char>('a' + word));
    explanation.text += (word > 0 ? " " : "") + text;
    explanation.units.push_back({text, 3 * word, 3 * word + 2, false, 0, word});
    attribution.words.push_back({text, 3 * word, 3 * word + 2, scores[i], 0});
  }
  attribution.estimate = Estimate{.space = "logit", .base = base, .value = value};
  explanation.attributions.push_back(attribution);
  explanation.output = {"logit", {value}, {"yes"}};
  explanation.target = {0, "yes", value, std::nullopt};
  return explanation;
}

ForceBar bar_of(const Explanation& explanation) {
  return force_bar(explanation, explanation.attributions[0]).value();
}

struct Rectangle {
  double x, width;
  std::string fill;
};

std::vector<Rectangle> rectangles_of_height(const std::string& svg, const std::string& height) {
  std::vector<Rectangle> found;
  const std::regex shape("<rect x=\"([-0-9.]+)\" y=\"[-0-9.]+\" width=\"([0-9.]+)\" height=\"" +
                         height + "\" fill=\"(#[0-9a-f]+)\"");
  for (std::sregex_iterator i(svg.begin(), svg.end(), shape), end; i != end; ++i) {
    found.push_back({std::stod((*i)[1]), std::stod((*i)[2]), (*i)[3]});
  }
  return found;
}

TEST(ForceBar, StacksScoresForTheTargetLeftwardsFromTheValueAndOthersRightwards) {
  const ForceBar bar = bar_of(explanation_of({0.5, -2, 3, 0}, 1));
  ASSERT_EQ(bar.segments.size(), 3);  // what is worth nothing has no segment
  EXPECT_EQ(bar.base, 1);
  EXPECT_EQ(bar.value, 2.5);
  const std::vector<std::string> names{"[CLS]", "bb", "aa"};
  const std::vector<double> from{-1, -0.5, 2.5}, to{-0.5, 2.5, 4.5};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(bar.segments[i].text, names[i]);
    EXPECT_DOUBLE_EQ(bar.segments[i].from, from[i]);
    EXPECT_DOUBLE_EQ(bar.segments[i].to, to[i]);
  }
  // A tenth of the range 5.5 on both sides.
  EXPECT_DOUBLE_EQ(bar.low, -1.55);
  EXPECT_DOUBLE_EQ(bar.high, 5.05);
}

TEST(ForceBar, TicksFollowTheRuleOfTheShapPackage) {
  // Range 6.6: no decimals; middle 1.75 → 2, step 0.94 → 1; none within 0.47 of an end.
  EXPECT_THAT(bar_of(explanation_of({0.5, -2, 3, 0}, 1)).ticks, ElementsAre(-1, 0, 1, 2, 3, 4));
  // Range 0.66: one decimal; middle 0.175 → 0.2, step 0.094 → 0.1.
  EXPECT_THAT(bar_of(explanation_of({0.05, -0.2, 0.3, 0}, 0.1)).ticks,
              ElementsAre(DoubleNear(-0.1, 1e-12), DoubleNear(0, 1e-12), DoubleNear(0.1, 1e-12),
                          DoubleNear(0.2, 1e-12), DoubleNear(0.3, 1e-12), DoubleNear(0.4, 1e-12)));
}

TEST(ForceBar, HasTicksWhereTheRuleRoundsItsStepToNothing) {
  // Range 3.24: no decimals by the rule, and a step of 0.46, which is 0 without them.
  const ForceBar bar = bar_of(explanation_of({0, 2.7, 0}, 0));
  EXPECT_EQ(bar.decimals, 1);
  ASSERT_GE(bar.ticks.size(), 5);
  EXPECT_NEAR(bar.ticks[1] - bar.ticks[0], 0.5, 1e-12);
}

TEST(ForceBar, PiecesOfAWordAreOneSegment) {
  const Explanation explanation = estimate_sample();
  const ForceBar bar = bar_of(explanation);
  const auto wonderful =
      std::find_if(bar.segments.begin(), bar.segments.end(),
                   [](const ForceSegment& segment) { return segment.text == "wonderful"; });
  ASSERT_NE(wonderful, bar.segments.end());
  const Attribution& shap = explanation.attributions[0];
  EXPECT_DOUBLE_EQ(wonderful->score, shap.words[2].score);
  double sum = bar.base;
  for (const ForceSegment& segment : bar.segments) sum += segment.score;
  EXPECT_NEAR(sum, shap.estimate->value, 1e-12);
}

TEST(ForceBar, IsAbsentForLinearFitsAndBrokenScores) {
  Explanation explanation = explanation_of({0.5, -2, 3, 0}, 1);
  explanation.attributions[0].scores[1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(force_bar(explanation, explanation.attributions[0]));
  const Explanation sample = estimate_sample();
  EXPECT_FALSE(force_bar(sample, sample.attributions[1]));
}

// As the row itself among the rows of its context.
TEST(Estimate, AUnitWithoutAScoreIsNoneOfTheSum) {
  Explanation explanation = explanation_of({0, 0.5, -2, 3, 0}, 1);
  explanation.attributions[0].scores[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(estimate_line(explanation.attributions[0]), "base 1.000 + 1.500 = 2.500 logit");
  EXPECT_EQ(bar_of(explanation).segments.size(), 3u);
}

TEST(Estimate, TheLineAddsUp) {
  // A sentence with the scores of the shap package: "I cannot wait for next time".
  const Explanation explanation = explanation_of({-0.10001853, 0.30019138, 1.07011396, 1.28322518,
                                                  0.11099461, 0.42985061, 0.22122911, -0.22297784},
                                                 -0.42705753);
  EXPECT_EQ(estimate_line(explanation.attributions[0]), "base -0.427 + 3.093 = 2.666 logit");
}

TEST(Estimate, TheLineSaysWhereTheScoresMissTheValue) {
  Explanation explanation = explanation_of({0.5, -2, -3, 0}, 1);
  explanation.attributions[0].estimate->value = -3.25;
  explanation.attributions[0].estimate->finished = false;
  EXPECT_EQ(estimate_line(explanation.attributions[0]),
            "base 1.000 - 4.500 = -3.500 logit · model output -3.250 · stopped before the end");
}

TEST(Estimate, ALinearFitTellsInterceptAndFit) {
  EXPECT_EQ(estimate_line(estimate_sample().attributions[1]),
            "linear model: intercept 0.4375 · model output 0.9960 probability · R² 0.81 · "
            "stopped before the end");
}

TEST(Estimate, AWordsErrorIsAtMostTheSumOfItsPieces) {
  const Explanation explanation = estimate_sample();
  const Attribution& shap = explanation.attributions[0];
  const std::vector<Item> items = items_of(explanation, shap, SpecialTokens::kShow);
  EXPECT_EQ(items[0].error, shap.estimate->errors[0]);
  const auto unbearably = std::find_if(items.begin(), items.end(),
                                       [](const Item& item) { return item.text == "unbearably"; });
  ASSERT_NE(unbearably, items.end());
  const auto first = static_cast<size_t>(unbearably->first_unit);
  EXPECT_DOUBLE_EQ(*unbearably->error,
                   shap.estimate->errors[first] + shap.estimate->errors[first + 1]);
}

TEST(Estimate, NothingEstimatedHasNoErrorAndAnUnknownOneAQuestionMark) {
  Explanation explanation = explanation_of({0.5, -2, 3, 0}, 1);
  explanation.attributions[0].estimate->errors = {std::numeric_limits<double>::quiet_NaN(),
                                                  std::numeric_limits<double>::infinity(), 0.25, 0};
  const std::vector<Item> items =
      items_of(explanation, explanation.attributions[0], SpecialTokens::kShow);
  EXPECT_FALSE(items[0].error);
  EXPECT_EQ(format_error(items[0].error, 1), "");
  EXPECT_EQ(format_error(items[1].error, 1), "± ?");
  EXPECT_THAT(to_html(explanation), HasSubstr(R"("errors":["none",null,0.25,0.0])"));
  EXPECT_THAT(to_json(explanation, -1), HasSubstr(R"("errors":[null,null,0.25,0.0])"));
}

TEST(Estimate, ErrorsThatDoNotFitTheUnitsAreRefused) {
  Explanation explanation = explanation_of({0.5, -2, 3, 0}, 1);
  explanation.attributions[0].estimate->errors = {1, 2};
  EXPECT_THROW(to_terminal(explanation), InvalidInput);
  explanation.attributions[0].estimate->errors.clear();
  explanation.attributions[0].estimate->interactions.assign(4, 1.0);
  EXPECT_THROW(to_html(explanation), InvalidInput);
}

TEST(EstimateInTerminal, ShowsLineForceBarAndErrors) {
  Explanation explanation = explanation_of({0.5, -2, 3, 0}, 1);
  explanation.attributions[0].estimate->errors = {0.125, std::numeric_limits<double>::infinity(),
                                                  0.25, 0};
  const std::string text = to_terminal(explanation, {.colour = false, .width = 48});
  EXPECT_THAT(text, HasSubstr("  base 1.000 + 1.500 = 2.500 logit\n"));
  // 44 columns for 5.5: 4 for 0.5, 24 for 3 and 16 for 2; the base 2 to the right of -1, the
  // value 3.5.
  EXPECT_THAT(text, HasSubstr("  ───▶──────────bb───────────▶◀──────aa───────\n"));
  EXPECT_THAT(text, HasSubstr("\n       base 1.000 ▲           ▲ f(x) 2.500\n"));
  EXPECT_THAT(text, HasSubstr("+3.000 ± 0.250"));
  EXPECT_THAT(text, HasSubstr("-2.000 ± ?"));
  EXPECT_THAT(without_colours(to_terminal(explanation, {.width = 48})),
              HasSubstr("     ▶          bb           ▶◀      aa       \n"));
}

TEST(EstimateInTerminal, SegmentsTooNarrowForAWordAreJoined) {
  std::vector<double> scores(102, 0.01);
  scores[50] = 1;
  const std::string text = to_terminal(explanation_of(scores, 0), {.colour = false, .width = 44});
  EXPECT_THAT(text, HasSubstr("─101 more─"));
}

TEST(EstimateInTerminal, ErrorsStandBesideTheScoresOfSeveralMethods) {
  const std::string text = to_terminal(estimate_sample(), {.colour = false, .width = 133});
  EXPECT_THAT(text, HasSubstr(" ± 0.0"));
  EXPECT_THAT(text, HasSubstr("linear model: intercept"));
}

TEST(EstimateInTerminal, ListsTheEightStrongestPairs) {
  const Explanation explanation = estimate_sample();
  const std::string text = to_terminal(explanation, {.colour = false});
  int pairs = 0;
  for (const std::string& line : lines_of(text))
    pairs += line.find(" × ") != std::string::npos ? 1 : 0;
  EXPECT_EQ(pairs, 8);
  const size_t tokens = explanation.units.size() - 2;
  EXPECT_THAT(text, HasSubstr(fmt::format("and {} more pairs", tokens * (tokens - 1) / 2 - 8)));
}

TEST(EstimateInPictures, ForceSegmentsAreAsWideAsTheirScores) {
  const std::string svg = bars_picture(explanation_of({0.5, -2, 3, 0}, 1), PictureFormat::kSvg);
  const std::vector<Rectangle> segments = rectangles_of_height(svg, "22\\.00");
  ASSERT_EQ(segments.size(), 3);
  const double unit = segments[0].width / 0.5;
  EXPECT_NEAR(segments[1].width, 3 * unit, 0.1);
  EXPECT_NEAR(segments[2].width, 2 * unit, 0.1);
  EXPECT_EQ(segments[0].fill, css(kLightPalette.positive));
  EXPECT_EQ(segments[2].fill, css(kLightPalette.negative));
  const double value = segments[1].x + segments[1].width;  // where both signs meet
  EXPECT_NEAR(segments[2].x, value, 0.02);
  const double base = segments[0].x + 2 * unit;
  for (const double mark : {value, base}) {
    EXPECT_THAT(svg, HasSubstr(fmt::format("<line x1=\"{:.2f}\"", mark + 0.5)));
  }
  EXPECT_THAT(svg, HasSubstr("exact-shap: base 1.000 + 1.500 = 2.500 logit"));
  EXPECT_THAT(svg, HasSubstr(">base 1.000<"));
  EXPECT_THAT(svg, HasSubstr(">f(x) 2.500<"));
}

TEST(EstimateInPictures, TheTextStandsAboveItsForceBarInTheColoursOfItsScores) {
  const std::string svg = bars_picture(explanation_of({0, -2, 4, 0}, 1), PictureFormat::kSvg);
  const std::vector<Rectangle> words = rectangles_of_height(svg, "18\\.00");
  ASSERT_EQ(words.size(), 2);  // special tokens without a score are not coloured
  EXPECT_EQ(words[0].fill, css(mix(kLightPalette.paper, kLightPalette.negative, 0.5)));
  EXPECT_EQ(words[1].fill, css(kLightPalette.positive));
}

TEST(EstimateInPictures, WhiskersReachOneErrorToBothSides) {
  Explanation explanation = explanation_of({0, 1, 4, 0}, 0);
  explanation.attributions[0].estimate->errors = {0, 0, 1, 0};
  const std::string svg = bars_picture(explanation, PictureFormat::kSvg);
  // 420 pixels for 4 and an error of 1 beyond: 84 each.
  const std::vector<Rectangle> bars = rectangles_of_height(svg, "16\\.00");
  ASSERT_EQ(bars.size(), 2);
  EXPECT_NEAR(bars[0].width, 84, 0.01);
  EXPECT_NEAR(bars[1].width, 336, 0.01);
  const double end = bars[1].x + bars[1].width;
  EXPECT_THAT(svg, testing::ContainsRegex(fmt::format(
                       "<line x1=\"{:.2f}\" y1=\"[0-9.]+\" x2=\"{:.2f}\"", end - 84, end + 84)));
  EXPECT_THAT(svg, HasSubstr(">+4.000 ± 1.000<"));
}

TEST(Interactions, PairsAndTokensAloneAddUpToTheValue) {
  const Explanation explanation = estimate_sample();
  const Attribution& taylor = explanation.attributions[2];
  const Interactions interactions = interactions_of(explanation, taylor).value();
  EXPECT_EQ(interactions.names.size(),
            explanation.units.size() - 2);  // special tokens take no part
  double sum = taylor.estimate->base;
  for (const Interactions::Pair& pair : interactions.pairs) sum += pair.value;
  EXPECT_NEAR(sum, taylor.estimate->value, 1e-9);
}

TEST(Interactions, ThePictureSaysEveryPairOnce) {
  Explanation explanation = explanation_of({0, 1, 4, 0}, 0);
  explanation.attributions[0].estimate->interactions = {0, 0,     0,   0, 0, 1.5, -0.25, 0,
                                                        0, -0.25, 4.5, 0, 0, 0,   0,     0};
  const std::string svg = interactions_picture(explanation, PictureFormat::kSvg);
  for (const char* said : {">1.50<", ">-0.50<", ">4.50<"}) EXPECT_THAT(svg, HasSubstr(said));
  EXPECT_THAT(svg, Not(HasSubstr(">-0.25<")));
  EXPECT_THAT(svg, HasSubstr(fmt::format("fill=\"{}\"", css(kLightPalette.positive))));
  EXPECT_FALSE(interactions_picture(explanation, PictureFormat::kPng).empty());
  EXPECT_THROW(interactions_picture(explanation_of({0, 1, 0}, 0), PictureFormat::kSvg),
               InvalidInput);
}

}  // namespace
}  // namespace whyformer::report
