#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "report/views/beeswarm.h"
#include "report/views/palette.h"
#include "report/views/text.h"
#include "tests/support/printed_lines.h"
#include "tests/support/sample_explanations.h"
#include "tests/support/sample_summaries.h"
#include "tests/support/source_folder.h"
#include "whyformer/report.h"
#include "whyformer/summary.h"

namespace whyformer::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> matches(const std::string& text, const std::string& expression) {
  std::vector<std::string> found;
  const std::regex wanted(expression);
  for (std::sregex_iterator i(text.begin(), text.end(), wanted), end; i != end; ++i)
    found.push_back((*i)[1]);
  return found;
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

TEST(SummaryPicture, CategoriesAreGreyAndMissingCellsHollow) {
  Explanation word = table_row(20, 40, {1, 0.5}), gone = table_row(20, 40, {2, 0.25});
  for (Explanation* row : {&word, &gone}) {
    row->units[1].category = true;
    row->units[1].value.reset();
    row->units[1].cell = "full-time";
  }
  gone.units[0].missing = true;
  gone.units[0].value.reset();
  const Summary summary = summarise(std::vector{word, gone, table_row(30, 1, {3, 0.125})});
  EXPECT_FALSE(summary.rows[0].points[1].level.has_value());
  EXPECT_EQ(summary.rows[0].points[2].level, 1);  // missing cells do not take the others' levels
  const std::string svg = summary_picture(summary, SummaryPlot::kBeeswarm, PictureFormat::kSvg);
  const std::string grey = css(kLightPalette.faint_ink), paper = css(kLightPalette.paper);
  // Two categories and a missing cell with their keys; hollow are the missing one and its key.
  EXPECT_EQ(matches(svg, "(<circle[^>]*" + grey + ")").size(), 2 + 1 + 2);
  EXPECT_EQ(matches(svg, "(<circle[^>]*" + paper + ")").size(), 2);
  EXPECT_THAT(svg, HasSubstr(">category<"));
}

TEST(SummaryPicture, DrawsAsPng) {
  const Summary summary = summarise(table_rows(), "");
  for (const SummaryPlot plot :
       {SummaryPlot::kBar, SummaryPlot::kBeeswarm, SummaryPlot::kHeatMap}) {
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

TEST(SummaryPage, OfATableAlsoHasTheHeatMapAndADependencePlotPerColumn) {
  const std::string page = to_html(summarise(table_rows()));
  EXPECT_EQ(matches(page, "(<svg )").size(), 2 * (3 + 2));
  EXPECT_THAT(page, HasSubstr("img-src data:"));  // the heat map is an image
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
