#include <gtest/gtest.h>

#include "whyformer/evaluate.h"

namespace whyformer {
namespace {

TEST(MeanIou, IsTheMeanOfObjectAndBackground) {
  // Above the mean of 2: cells 2 and 3. Object: 1 of 3; background: 1 of 3.
  EXPECT_EQ(localisation("mean-iou", std::vector<double>{0, 0, 3, 5}, {false, true, true, false}),
            (1.0 / 3 + 1.0 / 3) / 2);
  // Object: 1 of 2; background: 2 of 3.
  EXPECT_EQ(localisation("mean-iou", std::vector<double>{0, 0, 3, 5}, {false, false, true, false}),
            (1.0 / 2 + 2.0 / 3) / 2);
  EXPECT_EQ(localisation("mean-iou", std::vector<double>{0, 0, 3, 5}, {false, false, true, true}),
            1);
}

TEST(MeanIou, CellsAreSummedOverMapsBeforeTheDivision) {
  Localisation metric("mean-iou");
  metric.add(std::vector<double>{0, 1}, {false, true});
  metric.add(std::vector<double>{0, 0, 0, 0, 0, 0, 1, 1}, std::vector<bool>(8, true));
  // Object: 1 + 2 of 1 + 8 cells; background: 1 + 0 of 1 + 6.
  EXPECT_EQ(metric.value(), (3.0 / 9 + 1.0 / 7) / 2);
}

TEST(MeanIou, ScalingAndShiftingAMapChangesNothing) {
  const std::vector<bool> region{true, false, true, false};
  EXPECT_EQ(localisation("mean-iou", std::vector<double>{1, 2, 3, 8}, region),
            localisation("mean-iou", std::vector<double>{-9, -7, -5, 5}, region));
}

}  // namespace
}  // namespace whyformer
