#include "report/views/dependence.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "studies/summary/interactions.h"
#include "tests/support/sample_summaries.h"
#include "whyformer/error.h"
#include "whyformer/report.h"

namespace whyformer::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// 40 rows: windows of four. Scores of "x" follow x and, against it, "k"; "c" says nothing.
Summary interacting() {
  Summary summary{.method = "shap", .instances = 40};
  SummaryRow x{.name = "x"}, c{.name = "c"}, k{.name = "k"};
  for (int64_t i = 0; i < 40; ++i) {
    const bool yes = i % 3 == 0;
    x.points.push_back({.score = (yes ? 1.0 : -1.0) * static_cast<double>(i),
                        .instance = i,
                        .value = static_cast<double>(i)});
    c.points.push_back({.score = 0.1 * static_cast<double>(i % 5), .instance = i, .value = 7});
    k.points.push_back(
        {.score = yes ? 0.5 : -0.5, .instance = i, .cell = yes ? "yes" : "no", .category = true});
  }
  k.points[4].missing = true;
  summary.rows = {x, c};
  summary.rows.push_back({.name = "Sum of 1 other features"});
  summary.others = 1;
  summary.summed = {k};
  find_interactions(summary);
  return summary;
}

TEST(Dependence, IsColouredByTheColumnThatInteractsAlsoAmongThoseThatAreSummed) {
  const Dependence plot = dependence_of(interacting(), "");
  EXPECT_EQ(plot.column, "x");
  EXPECT_EQ(plot.coloured_by, "k");
  EXPECT_THAT(plot.shades, ElementsAre("no", "yes"));
  ASSERT_EQ(plot.points.size(), 40);
  EXPECT_EQ(plot.points[3].x, 3);
  EXPECT_EQ(plot.points[3].score, 3);
  EXPECT_EQ(plot.points[3].level, 1);
  EXPECT_EQ(plot.points[5].level, 0);
  EXPECT_FALSE(plot.points[4].level.has_value());  // missing
}

TEST(Dependence, CategoriesStandByTheirMeanScore) {
  const Dependence plot = dependence_of(interacting(), "k");
  EXPECT_THAT(plot.words, ElementsAre("no", "yes"));
  EXPECT_EQ(plot.missing, 1);
  EXPECT_EQ(plot.points[0].x, 1);
  EXPECT_TRUE(std::isnan(plot.points[4].x));
  EXPECT_EQ(plot.x.low, -0.5);
  EXPECT_EQ(plot.x.high, 1.5);
}

TEST(Dependence, RefusesOtherNamesAndTexts) {
  EXPECT_THAT([] { dependence_of(interacting(), "age"); },
              ThrowsMessage<InvalidInput>(HasSubstr("no column 'age'")));
  EXPECT_THAT([] { dependence_of(summarise(five_sentences()), ""); },
              ThrowsMessage<InvalidInput>(HasSubstr("only columns of a table")));
}

TEST(Dependence, OneColumnHasNothingToInteractWith) {
  Summary summary = interacting();
  summary.rows.resize(1);
  summary.others = 0;
  summary.summed.clear();
  EXPECT_EQ(dependence_of(summary, "x").coloured_by, "");
  EXPECT_THAT(dependence_picture(summary, "x", PictureFormat::kSvg),
              HasSubstr("no other column seems to interact"));
}

TEST(DependencePicture, EscapesNamesAndGathersRareCategories) {
  Summary summary = interacting();
  SummaryRow& words = summary.summed[0];
  words.name = "<img>\x1b";
  for (int64_t i = 0; i < 40; ++i) {
    words.points[static_cast<size_t>(i)].missing = false;
    words.points[static_cast<size_t>(i)].cell = i < 20 ? "most" : fmt::format("<b>{}", i);
  }
  find_interactions(summary);
  const std::string svg = dependence_picture(summary, words.name, PictureFormat::kSvg);
  EXPECT_THAT(svg, testing::Not(HasSubstr("<img")));
  EXPECT_THAT(svg, testing::Not(HasSubstr("<b>")));
  EXPECT_THAT(svg, testing::Not(HasSubstr("\x1b")));
  EXPECT_THAT(svg, HasSubstr(">20 others<"));
  EXPECT_TRUE(dependence_picture(summary, "x", PictureFormat::kPng).starts_with("\x89PNG"));
}

}  // namespace
}  // namespace whyformer::report
