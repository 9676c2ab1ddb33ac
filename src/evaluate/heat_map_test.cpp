#include "evaluate/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "tests/support/source_folder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::Each;
using testing::ElementsAre;

const nlohmann::json& golden_maps() {
  static const nlohmann::json json =
      nlohmann::json::parse(std::ifstream(source_folder() / "tests/golden/heat_map/expected.json"));
  return json;
}

TEST(HeatMap, BilinearEqualsPyTorch) {
  for (const nlohmann::json& sample : golden_maps()["bilinear"]) {
    const auto patches = sample["patches"].get<std::vector<double>>();
    const MapSize to{sample["height"], sample["width"]};
    const std::vector<double> large = bilinear(patches, {sample["rows"], sample["columns"]}, to);
    ASSERT_EQ(large.size(), static_cast<size_t>(to.rows * to.columns));
    for (size_t i = 0; i < sample["lines"].size(); ++i) {
      const auto y = sample["lines"][i].get<int64_t>();
      for (int64_t x = 0; x < to.columns; ++x) {
        EXPECT_NEAR(large[static_cast<size_t>(y * to.columns + x)],
                    sample["expected"][i][static_cast<size_t>(x)].get<double>(), 1e-14)
            << sample["rows"] << " x " << sample["columns"] << " at " << y << ", " << x;
      }
    }
  }
}

TEST(HeatMap, BilinearKeepsConstantsAndCornersAndIsHalfWayBetweenPatches) {
  std::vector<double> patches(14 * 14, 0.0);
  patches[0] = 3;
  patches[1] = 5;
  const std::vector<double> large = bilinear(patches, {14, 14}, {224, 224});
  EXPECT_EQ(large[0], 3);
  // The middle of patch p is at pixel 16 p + 7.5.
  EXPECT_DOUBLE_EQ((large[7] + large[8]) / 2, 3 + 0.5 * 2 / 16 / 2);
  EXPECT_DOUBLE_EQ((large[15] + large[16]) / 2, 4);
  EXPECT_THAT(bilinear(std::vector<double>(6, 0.7), {2, 3}, {11, 13}), Each(0.7));
}

TEST(HeatMap, NearestGivesEachPatchItsPixels) {
  EXPECT_THAT(nearest(std::vector<double>{1, 2, 3, 4}, {2, 2}, {2, 4}),
              ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
  EXPECT_THAT(nearest(std::vector<double>{1, 2}, {1, 2}, {1, 3}), ElementsAre(1, 2, 2));
}

TEST(HeatMap, MinMaxSpansZeroToOneAndAConstantMapIsZero) {
  EXPECT_THAT(min_max(std::vector<double>{-2, 0, 6}), ElementsAre(0, 0.25, 1));
  EXPECT_THAT(min_max(std::vector<double>{4, 4, 4}), ElementsAre(0, 0, 0));
  EXPECT_THAT(min_max({}), testing::IsEmpty());
}

TEST(HeatMap, SignedMapsKeepTheirZero) {
  EXPECT_THAT(by_largest_magnitude(std::vector<double>{-4, 0, 2}), ElementsAre(-1, 0, 0.5));
  EXPECT_THAT(by_largest_magnitude(std::vector<double>{0, 0}), ElementsAre(0, 0));
}

TEST(HeatMap, OtsuEqualsOpenCvAndScikitImage) {
  for (const nlohmann::json& sample : golden_maps()["otsu"]) {
    const auto values = sample["values"].get<std::vector<double>>();
    EXPECT_EQ(otsu_level(values), sample["opencv"]) << sample["name"];
    EXPECT_EQ(otsu_level(values), sample["skimage"]) << sample["name"];
    const std::vector<bool> inside = otsu_segment(values);
    EXPECT_EQ(std::count(inside.begin(), inside.end(), true), sample["inside"]) << sample["name"];
  }
}

// The definition: for every cut, both classes' means from scratch.
int level_by_definition(const std::vector<double>& values) {
  int best = 0;
  double largest = -1;
  for (int cut = 0; cut < 255; ++cut) {
    std::vector<int> low, high;
    for (const double value : values) {
      const int level = static_cast<int>(std::floor(255 * value));
      (level <= cut ? low : high).push_back(level);
    }
    if (low.empty() || high.empty()) continue;
    const auto mean = [](const std::vector<int>& levels) {
      return std::accumulate(levels.begin(), levels.end(), 0.0) / levels.size();
    };
    const double variance = static_cast<double>(low.size()) * static_cast<double>(high.size()) *
                            std::pow(mean(low) - mean(high), 2);
    if (variance > largest) {
      largest = variance;
      best = cut;
    }
  }
  return best;
}

TEST(HeatMap, OtsuPartsTheLevelsWhereTheVarianceBetweenThemIsLargest) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> values(static_cast<size_t>(10 + 20 * round));
    for (double& value : values) value = std::pow(uniform(random), 1 + round % 4);
    EXPECT_EQ(otsu_level(values), level_by_definition(values)) << round;
  }
}

TEST(HeatMap, AConstantMapHasNoSegment) {
  const std::vector<bool> inside = otsu_segment(std::vector<double>(9, 0.0));
  EXPECT_EQ(std::count(inside.begin(), inside.end(), true), 0);
}

TEST(HeatMap, ScoresThatDoNotFillTheGridAreNamed) {
  try {
    bilinear(std::vector<double>(5), {2, 3}, {4, 4});
    FAIL() << "5 scores filled 2 x 3 patches";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "heat map: 5 scores for 2 x 3 patches");
  }
  EXPECT_THROW(nearest(std::vector<double>{}, {0, 0}, {4, 4}), InvalidInput);
}

}  // namespace
}  // namespace whyformer
