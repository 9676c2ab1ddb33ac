// Reports of a row of tokens beside a grid of patches: a picture that was compared with a text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/views/panel_layout.h"
#include "tests/support/sample_pictures.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(PanelLayout, TogetherHaveEveryScoreOnce) {
  const Explanation pair = picture_pair_sample();
  const PanelLayout layout = layout_of({&pair, 1});
  ASSERT_EQ(layout.tokens.size(), 1u);
  ASSERT_EQ(layout.grids.size(), 1u);
  const Explanation &text = layout.tokens[0], &picture = layout.grids[0];
  ASSERT_EQ(text.units.size() + picture.units.size(), pair.units.size());
  EXPECT_EQ(text.text, "a red ball");
  EXPECT_EQ(text.units[2].text, "red</w>");
  EXPECT_EQ(picture.units[0].text, "[CLS]");
  for (size_t method = 0; method < pair.attributions.size(); ++method) {
    std::vector<double> scores = text.attributions[method].scores;
    const std::vector<double>& others = picture.attributions[method].scores;
    scores.insert(scores.end(), others.begin(), others.end());
    EXPECT_EQ(scores, pair.attributions[method].scores);
  }
  // Each panel keeps its own maps.
  EXPECT_EQ(text.attention.size(), 1u);
  EXPECT_EQ(text.attention[0].queries, 5);
  EXPECT_EQ(picture.attention.size() + 1, pair.attention.size());
  EXPECT_EQ(layout.picture().first_patch, 1);
}

TEST(PanelLayout, InteractionsKeepTheirPlaces) {
  Explanation pair = picture_pair_sample();
  const size_t units = pair.units.size();
  Estimate estimate;
  for (size_t i = 0; i < units * units; ++i)
    estimate.interactions.push_back(static_cast<double>(i));
  pair.attributions[0].estimate = estimate;
  const PanelLayout layout = layout_of({&pair, 1});
  const std::vector<double>& inside = layout.grids[0].attributions[0].estimate->interactions;
  const size_t patches = units - 5;
  ASSERT_EQ(inside.size(), patches * patches);
  EXPECT_EQ(inside[patches + 2], static_cast<double>((5 + 1) * units + 5 + 2));
}

TEST(PairReport, TheTerminalShowsTheTextAboveThePicture) {
  const std::string said = to_terminal(picture_pair_sample(), {.colour = false, .width = 100});
  EXPECT_THAT(said, HasSubstr("Explained a red ball"));
  EXPECT_THAT(said, Not(HasSubstr("startoftext")));
  EXPECT_THAT(said, HasSubstr("Text: 2 special tokens are hidden and left out of the scale."));
  EXPECT_THAT(said, HasSubstr("[CLS] covers no patch and is left out of the scale:"));
  // Every method colours the text, before the maps of the picture begin.
  const size_t first = said.find("a red ball", said.find('\n', said.find("patches")) + 30);
  EXPECT_NE(first, std::string::npos);
  EXPECT_LT(first, said.find("From weak to strong"));
}

TEST(PairReport, WhatScoresAddUpToCountsBothSides) {
  Explanation pair = picture_pair_sample();
  Attribution& attribution = pair.attributions[2];
  attribution.scores.assign(pair.units.size(), 0.0);
  attribution.scores[2] = 20;
  attribution.scores.back() = 3;
  attribution.estimate = Estimate{.space = "logit", .base = 0.5, .value = 23.5};
  EXPECT_THAT(to_terminal(pair, {.colour = false, .width = 100}),
              HasSubstr("base 0.50 + 23.00 = 23.50"));
  EXPECT_THAT(to_html(pair), HasSubstr("base 0.50 + 23.00 = 23.50"));
}

TEST(PairReport, TheSheetShowsTheTextOnceForEachMethod) {
  const Explanation pair = picture_pair_sample();
  const std::string sheet = overlay_picture({&pair, 1}, PictureFormat::kSvg, {});
  size_t count = 0;
  for (size_t at = sheet.find(">red<"); at != std::string::npos; at = sheet.find(">red<", at + 1))
    ++count;
  EXPECT_EQ(count, pair.attributions.size());
  EXPECT_THAT(sheet, AllOf(HasSubstr("Explained a red ball"), Not(HasSubstr("Predicted"))));
}

TEST(PairReport, JsonHasUnitsOfBothSides) {
  const nlohmann::json json = nlohmann::json::parse(to_json(picture_pair_sample()));
  EXPECT_EQ(json["pair"], "a red ball");
  EXPECT_EQ(json["picture"]["patches"]["first"], 6);
  EXPECT_EQ(json["units"][3]["segment"], 1);
  EXPECT_FALSE(json["units"][3].contains("row"));
  EXPECT_EQ(json["units"][6]["row"], 0);
  EXPECT_EQ(json["attributions"][0]["words"][1]["text"], "red");
}

TEST(PairReport, AttentionOfThePictureIsDrawnOnIt) {
  EXPECT_NO_THROW(attention_picture(picture_pair_sample(), PictureFormat::kSvg));
}

}  // namespace
}  // namespace whyformer::report
