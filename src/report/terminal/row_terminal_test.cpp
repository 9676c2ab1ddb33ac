#include "report/terminal/row_terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/views/text.h"
#include "tests/support/printed_lines.h"
#include "tests/support/sample_rows.h"

namespace whyformer::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RowTerminal, ColumnsStandInATableTheStrongestFirst) {
  const std::vector<std::string> lines = row_lines(row_sample(), {.colour = false, .width = 80});
  ASSERT_EQ(lines.size(), 7);
  EXPECT_THAT(lines[1], testing::StartsWith("  column        value       kernel-shap"));
  EXPECT_THAT(lines[2], testing::StartsWith("  married       no          +1.000 ████████████████"));
  EXPECT_THAT(lines[2], HasSubstr("0.3000 █████████▋"));
  EXPECT_THAT(lines[3],
              testing::AllOf(testing::StartsWith("  age           39          +0.500 ███"),
                             testing::EndsWith("      –")));
  EXPECT_THAT(lines[4], testing::StartsWith("  town          Saint-Rémy  -0.250 ▒▒▒▒"));
  EXPECT_THAT(lines[6], testing::StartsWith("  capital-gain  missing      0.000"));
}

TEST(RowTerminal, SaysWhatTheTableCannot) {
  const std::string text = to_terminal(row_sample(), {.colour = false});
  EXPECT_THAT(text, HasSubstr("income (ft-transformer) · 5 columns · 2 labels"));
  EXPECT_THAT(text, HasSubstr("base -1.000 + 1.375 = 0.375 logit"));
  EXPECT_THAT(text, HasSubstr("Columns with – have no score by this method."));
  EXPECT_THAT(text, Not(HasSubstr("[CLS]")));
  EXPECT_THAT(text, Not(HasSubstr("6 tokens")));
}

TEST(RowTerminal, RowsOfAContextAreCountedAsRows) {
  Explanation explanation = row_sample();
  std::erase_if(explanation.units, [](const Unit& unit) { return unit.special; });
  explanation.attributions.clear();
  for (size_t i = 0; i < explanation.units.size(); ++i)
    explanation.units[i].row = static_cast<int64_t>(i) - 1;
  EXPECT_THAT(to_terminal(explanation, {.colour = false}), HasSubstr("· 5 rows · 2 labels"));
}

TEST(RowTerminal, ManyColumnsAreCountedAndManyMethodsMakeSeveralTables) {
  EXPECT_THAT(to_terminal(wide_row_sample(500), {.colour = false}),
              HasSubstr("and 480 more columns"));
  Explanation several = row_sample();
  for (int i = 0; i < 4; ++i) several.attributions.push_back(several.attributions[0]);
  const std::vector<std::string> lines = row_lines(several, {.colour = false, .width = 60});
  EXPECT_EQ(std::ranges::count(lines, ""), 3);
  for (const std::string& line : lines) EXPECT_LE(columns(line), 60) << line;
}

TEST(RowTerminal, WithoutMethodsCellsAreShown) {
  Explanation explanation = row_sample();
  explanation.attributions.clear();
  const std::string text = to_terminal(explanation, {.colour = false});
  EXPECT_THAT(text, HasSubstr("  town          Saint-Rémy\n"));
  EXPECT_THAT(text, HasSubstr("No method was run."));
}

TEST(RowTerminal, HostileCellsAddNoEscapesAndNoLines) {
  const std::string text = without_colours(to_terminal(hostile_row_sample()));
  for (const std::string& line : lines_of(text)) EXPECT_EQ(printable(line), line);
}

}  // namespace
}  // namespace whyformer::report
