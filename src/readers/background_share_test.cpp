#include "readers/background_share.h"

#include <gtest/gtest.h>

#include <cmath>

namespace whyformer {
namespace {

// A number, a category in two places, and a number with a flag for missing cells; four rows.
PlacedRow small_row() {
  return {.columns = {{.name = "age", .places = {0}},
                      {.name = "town", .places = {1, 2}, .category = true},
                      {.name = "pay", .places = {3, 4}}},
          .values = {40, 0, 1, 7, 0},
          .background = {.rows = 4, .columns = 5, .values = {20, 0, 1, 5, 0,  //
                                                             40, 1, 0, 0, 1,  //
                                                             60, 0, 1, 7, 0,  //
                                                             30, 1, 0, 9, 0}}};
}

const std::vector<double> kEven(4, 0.25);

TEST(BackgroundShare, CountsSmallerAndEqualNumbers) {
  const PlacedRow row = small_row();
  const auto age = background_share(row, row.columns[0], kEven);
  EXPECT_EQ(age->below, 0.5);
  EXPECT_EQ(age->equal, 0.25);
}

TEST(BackgroundShare, OfACategoryIsTheShareOfItsWord) {
  const PlacedRow row = small_row();
  const auto town = background_share(row, row.columns[1], kEven);
  EXPECT_EQ(town->below, 0);
  EXPECT_EQ(town->equal, 0.5);
}

TEST(BackgroundShare, MissingCellsAreNoNumbers) {
  PlacedRow row = small_row();
  const auto pay = background_share(row, row.columns[2], kEven);
  EXPECT_EQ(pay->below, 0.25);  // not the 0 of the missing cell
  EXPECT_EQ(pay->equal, 0.25);
  row.values[3] = 0;
  row.values[4] = 1;
  const auto missing = background_share(row, row.columns[2], kEven);
  EXPECT_EQ(missing->below, 0);
  EXPECT_EQ(missing->equal, 0.25);
  row.values[0] = NAN;
  row.background.values[5] = NAN;
  const auto unknown = background_share(row, row.columns[0], kEven);
  EXPECT_EQ(unknown->below, 0);
  EXPECT_EQ(unknown->equal, 0.25);
}

TEST(BackgroundShare, RowsCountByTheirWeights) {
  const PlacedRow row = small_row();
  const auto age = background_share(row, row.columns[0], std::vector{0.1, 0.2, 0.3, 0.4});
  EXPECT_DOUBLE_EQ(age->below, 0.5);
  EXPECT_DOUBLE_EQ(age->equal, 0.2);
}

TEST(BackgroundShare, NeedsABackground) {
  PlacedRow row = small_row();
  row.background = {};
  EXPECT_FALSE(background_share(row, row.columns[0], {}).has_value());
}

}  // namespace
}  // namespace whyformer
