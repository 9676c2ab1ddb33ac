#include "report/views/row_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/sample_explanations.h"
#include "tests/support/sample_pictures.h"
#include "tests/support/sample_rows.h"

namespace whyformer::report {
namespace {

using testing::ElementsAre;

TEST(RowView, OnlyRowsOfTablesAreRows) {
  EXPECT_TRUE(is_row(row_sample()));
  EXPECT_TRUE(is_row(wide_row_sample(1)));
  EXPECT_FALSE(is_row(sample_explanation()));
  EXPECT_FALSE(is_row(picture_sample()));
  EXPECT_FALSE(is_row(Explanation()));
}

TEST(RowView, ColumnsHaveTheirCellsAsWritten) {
  std::vector<std::string> said;
  for (const RowColumn& column : row_columns(row_sample()))
    said.push_back(column.name + "|" + column.cell + "|" + column.kind + "|" + column.background);
  EXPECT_THAT(
      said, ElementsAre("age|39|number|above 50 %, equal to 3 %", "town|Saint-Rémy|category|15 %",
                        "capital-gain|missing|number|90 %",
                        "hours|40.0|number|above 0 %, equal to 100 %", "married|no|category|40 %"));
}

TEST(RowView, SortsByStrengthAndPutsColumnsWithoutAScoreLast) {
  const Explanation explanation = row_sample();
  const std::vector<RowColumn> columns = row_columns(explanation);
  EXPECT_THAT(by_strength(columns, explanation.attributions[0]), ElementsAre(4, 0, 1, 3, 2));
  EXPECT_THAT(by_strength(columns, explanation.attributions[1]), ElementsAre(1, 4, 0, 2, 3));
}

}  // namespace
}  // namespace whyformer::report
