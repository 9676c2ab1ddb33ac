#include "explanation/panels.h"

#include <gtest/gtest.h>

#include "tests/support/sample_explanations.h"
#include "tests/support/sample_pictures.h"

namespace whyformer {
namespace {

TEST(Panels, TwoTextsAreOneRowOfTokens) {
  const Explanation pair = report::pair_sample();
  const std::vector<Panel> panels = panels_of(pair);
  ASSERT_EQ(panels.size(), 1u);
  EXPECT_EQ(panels[0].picture, nullptr);
  EXPECT_EQ(panels[0].units, static_cast<int64_t>(pair.units.size()));
  EXPECT_FALSE(has_grid(pair));
  EXPECT_EQ(input_texts(pair).size(), 2u);
}

TEST(Panels, APictureIsAGridWithItsSpecialTokens) {
  const Explanation picture = report::picture_sample();
  const std::vector<Panel> panels = panels_of(picture);
  ASSERT_EQ(panels.size(), 1u);
  EXPECT_EQ(panels[0].picture, &*picture.picture);
  EXPECT_EQ(panels[0].units, static_cast<int64_t>(picture.units.size()));
}

TEST(Panels, APictureWithATextIsARowOfTokensAndAGrid) {
  const Explanation pair = report::picture_pair_sample();
  const std::vector<Panel> panels = panels_of(pair);
  ASSERT_EQ(panels.size(), 2u);
  EXPECT_EQ(panels[0].picture, nullptr);
  EXPECT_EQ(panels[0].units, 5);
  EXPECT_EQ(panels[1].picture, &*pair.picture);
  EXPECT_EQ(panels[1].first_unit, 5);
  EXPECT_EQ(panels[1].units + 5, static_cast<int64_t>(pair.units.size()));
}

TEST(Panels, NothingIsAnEmptyRow) {
  const std::vector<Panel> panels = panels_of(Explanation());
  ASSERT_EQ(panels.size(), 1u);
  EXPECT_EQ(panels[0].units, 0);
}

}  // namespace
}  // namespace whyformer
