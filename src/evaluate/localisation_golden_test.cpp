// Metrics of regions against scikit-learn, Quantus and ERASER's formulas
// (tests/golden/metrics.json, by scripts/golden/metrics_golden.py), and maps solved by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "evaluate/segments.h"
#include "tests/support/source_folder.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;
using Map = std::vector<double>;
using Region = std::vector<bool>;

const Json& golden_file() {
  static const Json json =
      Json::parse(std::ifstream(source_folder() / "tests/golden/metrics.json"));
  return json;
}

Region region_in(const Json& json) {
  Region region;
  for (const int cell : json) region.push_back(cell == 1);
  return region;
}

double value_of(const std::string& metric, const Map& scores, const Region& region) {
  const std::optional<double> value = localisation(metric, scores, region);
  EXPECT_TRUE(value) << metric;
  return value.value_or(std::nan(""));
}

TEST(LocalisationGolden, EqualsTheReferencesForEveryMap) {
  std::map<std::string, int> compared;
  for (const Json& one : golden_file()["regions"]) {
    const Map scores = one["scores"].get<Map>();
    const Region region = region_in(one["region"]);
    for (const auto& [metric, expected] : one["metrics"].items()) {
      EXPECT_NEAR(value_of(metric, scores, region), expected.get<double>(), 1e-12)
          << metric << " of " << scores.size() << " cells";
      ++compared[metric];
    }
  }
  for (const char* metric :
       {"relevance-rank", "top-k-intersection", "roc-auc", "auprc", "token-f1", "iou-f1"}) {
    EXPECT_GE(compared[metric], 17) << metric;
  }
}

TEST(LocalisationGolden, IouF1OfManyMapsIsTheMicroAverageOfEraser) {
  Localisation all("iou-f1");
  for (const Json& one : golden_file()["regions"]) {
    all.add(one["scores"].get<Map>(), region_in(one["region"]));
  }
  EXPECT_NEAR(*all.value(), golden_file()["iou_f1_of_all"].get<double>(), 1e-12);
}

TEST(LocalisationGolden, TopKOf224By224PixelsIsThe1000OfQuantus) {
  Map scores;
  Region region;
  for (int64_t pixel = 0; pixel < 224 * 224; ++pixel) {
    scores.push_back(static_cast<double>(pixel * 7919 % 50177));
    region.push_back(pixel / 224 % 3 == 0);
  }
  EXPECT_EQ(localisation("top-k-intersection", scores, region),
            golden_file()["top_k_of_pixels"].get<double>());
}

TEST(LocalisationGolden, AuprcIsTheAreaByTrapezoidsAndNotTheAveragePrecision) {
  int different = 0;
  for (const Json& one : golden_file()["regions"]) {
    const double found = value_of("auprc", one["scores"].get<Map>(), region_in(one["region"]));
    different += std::abs(found - one["average_precision"].get<double>()) > 1e-3 ? 1 : 0;
  }
  EXPECT_GE(different, 10);
}

TEST(Auprc, ConstantScoresReachTheMiddleOfOneAndTheShareOfTheRegion) {
  EXPECT_DOUBLE_EQ(value_of("auprc", Map(4, 0.5), {true, false, false, false}), (1 + 0.25) / 2);
}

TEST(RocAuc, IsTheShareOfPairsInTheRightOrderWithTiesAsHalf) {
  // Inside 3 and 1; outside 2, 1 and 0: right 3 + 1, tied 1 of 6.
  EXPECT_DOUBLE_EQ(value_of("roc-auc", {3, 2, 1, 1, 0}, {true, false, true, false, false}),
                   4.5 / 6);
  EXPECT_EQ(localisation("roc-auc", Map(3, 2.0), {true, false, false}), 0.5);
}

TEST(RocAuc, OfTheReversedMapIsTheRest) {
  const Map scores{0.3, -0.2, 0.9, 0.3, 0.1, -1};
  const Region region{true, false, false, true, true, false};
  Map reversed = scores;
  for (double& score : reversed) score = -score;
  EXPECT_DOUBLE_EQ(value_of("roc-auc", scores, region) + value_of("roc-auc", reversed, region), 1);
}

TEST(RelevanceRank, CountsTheCellsOfTheRegionAmongAsManyHighestScores) {
  EXPECT_DOUBLE_EQ(value_of("relevance-rank", {5, 1, 4, 3, 2}, {true, true, true, false, false}),
                   2.0 / 3);
  EXPECT_EQ(localisation("relevance-rank", Map(4, 1.0), {true, true, false, false}), 1);
  EXPECT_EQ(localisation("relevance-rank", Map(4, 1.0), {false, false, true, true}), 0);
}

TEST(TokenF1, IsTheRelevanceRankBecauseAsManyUnitsAreChosenAsAreKnown) {
  for (const Json& one : golden_file()["regions"]) {
    const Map scores = one["scores"].get<Map>();
    const Region region = region_in(one["region"]);
    EXPECT_DOUBLE_EQ(value_of("token-f1", scores, region),
                     value_of("relevance-rank", scores, region));
  }
}

TEST(IouF1, CountsRunsThatOverlapByHalf) {
  // Chosen: units 0 to 2 and 6; known: 1 to 2, and 4 to 5. The first runs share 2 of 3 units.
  const Map scores{9, 8, 7, 0, 0, 0, 6, 0};
  EXPECT_EQ(localisation("iou-f1", scores, {false, true, true, false, true, true, false, false}),
            0.5);
  // Chosen: 0 to 1; known: 1 to 2. They share 1 of 3.
  EXPECT_EQ(localisation("iou-f1", Map{2, 1, 0}, {false, true, true}), 0);
  // Chosen: 0 to 1; known: 0, and 3. One of two units is exactly half.
  EXPECT_EQ(localisation("iou-f1", Map{3, 2, 0, 0}, {true, false, false, true}), 0.5 * 4 / 3);
}

TEST(Segments, RunsAreMaximal) {
  const auto runs = runs_of({true, true, false, true, false, false, true});
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].begin, 0);
  EXPECT_EQ(runs[0].end, 2);
  EXPECT_EQ(runs[1].begin, 3);
  EXPECT_EQ(runs[1].end, 4);
  EXPECT_EQ(runs[2].begin, 6);
  EXPECT_EQ(runs[2].end, 7);
  EXPECT_TRUE(runs_of({false, false}).empty());
  EXPECT_TRUE(runs_of({}).empty());
}

// What cannot be found, and what cannot be told from anything else.
TEST(Localisation, IsNothingWhereAMetricIsNotDefined) {
  const Map scores{0.5, -1, 2};
  for (const char* metric : {"relevance-mass", "relevance-rank", "top-k-intersection", "roc-auc",
                             "auprc", "token-f1", "iou-f1", "iou-of-equal-area"}) {
    EXPECT_FALSE(localisation(metric, scores, {false, false, false})) << metric;
    const auto of_all = localisation(metric, scores, {true, true, true});
    EXPECT_EQ(of_all, std::string(metric) == "roc-auc" ? std::nullopt : std::optional(1.0))
        << metric;
  }
  EXPECT_FALSE(localisation("relevance-mass", Map{-1, 0}, {true, false}));
}

TEST(Localisation, MapsWithoutAValueDoNotCount) {
  Localisation mass("relevance-mass"), area("roc-auc");
  mass.add(Map{1, 3}, {true, false});
  mass.add(Map{-1, -3}, {true, false});
  mass.add(Map{1, 3}, {false, false});
  EXPECT_EQ(mass.value(), 0.25);
  area.add(Map{1, 3}, {true, true});
  EXPECT_FALSE(area.value());
  area.add(Map{1, 3}, {false, true});
  EXPECT_EQ(area.value(), 1);
}

TEST(Localisation, ScoresNearTheLargestNumberDoNotOverflow) {
  const Map scores{0.1, 0.9, 0.4, -0.3};
  const Region region{false, true, true, false};
  Map huge = scores;
  for (double& score : huge) score = std::ldexp(score, 1024);
  ASSERT_TRUE(std::isinf(huge[0] + huge[1] + huge[2] + huge[1]));
  for (const MetricInfo& metric : metrics()) {
    if (metric.needs != MetricNeeds::kRegion) continue;
    EXPECT_EQ(localisation(metric.name, huge, region), localisation(metric.name, scores, region))
        << metric.name;
  }
}

}  // namespace
}  // namespace whyformer
