#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/views/heads_view.h"
#include "report/views/text.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

HeadImportance sample(int layers, int heads) {
  HeadImportance importance{.model = {"\x1b[2Jmodel", "<b>"}, .examples = 872, .tokens = 21634};
  for (const std::string name : {"michel", "confidence"}) {
    HeadScores scores{name, "what it <measures>", {{"normalise", std::string("layer")}}, {}};
    for (int layer = 0; layer < layers; ++layer) {
      scores.values.emplace_back();
      for (int head = 0; head < heads; ++head) {
        scores.values.back().push_back(std::fmod(0.37 * (layer * heads + head + 1), 1.0));
      }
    }
    importance.measures.push_back(scores);
  }
  importance.pruning = PruningCurve{.measure = "michel", .order = {{0, 1}}, .examples = 872};
  for (int i = 0; i <= 10; ++i) {
    importance.pruning->steps.push_back(
        {i * layers * heads / 10, 0.9 - 0.003 * i * i, 0.9 - 0.04 * i});
  }
  importance.notes = {"Heads were scored and pruned on the same texts."};
  return importance;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(HeadsTerminal, NoLineIsWiderThanTheTerminal) {
  for (const auto& [layers, heads] : {std::pair{4, 4}, {12, 12}, {24, 16}, {1, 1}}) {
    for (const int width : {44, 80, 133}) {
      const std::string text =
          to_terminal(sample(layers, heads), {.colour = false, .width = width});
      for (const std::string& line : lines_of(text)) EXPECT_LE(columns(line), width) << line;
    }
  }
}

TEST(HeadsTerminal, WithoutColourThereAreNoEscapes) {
  EXPECT_THAT(to_terminal(sample(4, 4), {.colour = false}), Not(HasSubstr("\x1b")));
  EXPECT_THAT(to_terminal(sample(4, 4), {.colour = true}), HasSubstr("48;5;"));
}

TEST(HeadsTerminal, NamesTheHighestAndTheLowestHeads) {
  HeadImportance importance = sample(2, 2);
  importance.measures.resize(1);
  importance.measures[0].values = {{0.5, 0.25}, {1, 0.125}};
  const std::string text = to_terminal(importance, {.colour = false});
  EXPECT_THAT(text, HasSubstr("highest  1.0 1.00  0.0 0.50\n"));
  EXPECT_THAT(text, HasSubstr("lowest   1.1 0.12  0.1 0.25\n"));
}

TEST(HeadsPicture, DrawsInBothFormats) {
  for (const auto& [layers, heads] : {std::pair{4, 4}, {12, 12}, {24, 16}, {1, 1}}) {
    const HeadImportance importance = sample(layers, heads);
    EXPECT_THAT(heads_picture(importance, PictureFormat::kSvg), StartsWith("<svg"));
    EXPECT_THAT(heads_picture(importance, PictureFormat::kPng), StartsWith("\x89PNG"));
  }
}

TEST(HeadsPicture, EscapesMarkup) {
  const std::string svg = heads_picture(sample(2, 2), PictureFormat::kSvg);
  EXPECT_THAT(svg, Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, Not(HasSubstr("\x1b")));
}

TEST(HeadsReports, SurviveScoresThatAreNotANumber) {
  HeadImportance importance = sample(2, 2);
  importance.measures[0].values[0][0] = NAN;
  importance.measures[1].values = {{0, 0}, {0, 0}};
  EXPECT_THAT(to_terminal(importance, {.colour = false}), HasSubstr("NaN"));
  EXPECT_THAT(heads_picture(importance, PictureFormat::kSvg), HasSubstr(">NaN<"));
  EXPECT_TRUE(nlohmann::json::parse(to_json(importance))["measures"][0]["scores"][0][0].is_null());
}

TEST(HeadsJson, HasTheDocumentedKeys) {
  const auto json = nlohmann::json::parse(to_json(sample(2, 2)));
  EXPECT_EQ(json["schema"], "whyformer.heads/1");
  EXPECT_EQ(json["examples"], 872);
  EXPECT_EQ(json["measures"][0]["name"], "michel");
  EXPECT_EQ(json["measures"][0]["options"]["normalise"], "layer");
  EXPECT_EQ(json["measures"][0]["scores"][1].size(), 2u);
  EXPECT_EQ(json["pruning"]["steps"][10]["pruned"], 4);
  EXPECT_EQ(json["pruning"]["order"][0], (std::vector<int>{0, 1}));
  EXPECT_EQ(json["stopped_early"], false);
}

TEST(HeadsReports, RefuseMeasuresOfDifferentHeads) {
  HeadImportance importance = sample(2, 2);
  importance.measures[1].values.pop_back();
  EXPECT_THROW(to_terminal(importance), InvalidInput);
  EXPECT_THROW(heads_picture(importance, PictureFormat::kSvg), InvalidInput);
}

}  // namespace
}  // namespace whyformer::report
