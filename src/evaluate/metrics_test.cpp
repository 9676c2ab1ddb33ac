// The list of metrics, and what holds for all of them.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <set>

#include "whyformer/error.h"
#include "whyformer/evaluate.h"

namespace whyformer {
namespace {

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no InvalidInput";
}

TEST(Metrics, HaveNamesOfTheirOwnASummaryAPaperAndAWarning) {
  std::set<std::string> names;
  for (const MetricInfo& metric : metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_FALSE(metric.summary.empty()) << metric.name;
    EXPECT_FALSE(metric.paper.empty()) << metric.name;
    EXPECT_FALSE(metric.misleads.empty()) << metric.name;
    EXPECT_EQ(metric_named(metric.name).summary, metric.summary);
  }
}

TEST(Metrics, AnUnknownNameIsAnsweredWithTheKnownOnes) {
  EXPECT_EQ(
      message_of([] { Localisation("pointing"); }),
      "there is no metric 'pointing'; the metrics are comprehensiveness, sufficiency, deletion, "
      "insertion, positive-perturbation, negative-perturbation, region-perturbation, irof, road, "
      "road-morf, road-lerf, faithfulness-correlation, "
      "faithfulness-estimate, sensitivity-n, infidelity, infidelity-scaled, monotonicity, "
      "monotonicity-correlation, completeness, non-sensitivity, keep-positive, "
      "remove-positive, keep-negative, remove-negative, keep-absolute, remove-absolute, "
      "max-sensitivity, local-lipschitz, complexity, sparseness, "
      "effective-complexity, pointing-game, iou, iou-of-equal-area, mean-iou, relevance-mass, "
      "relevance-rank, top-k-intersection, roc-auc, auprc, token-f1, iou-f1");
}

TEST(Metrics, ThatCompareWithNoRegionAreNotTakenForOnesThatDo) {
  EXPECT_EQ(message_of([] { Localisation("sparseness"); }),
            "sparseness does not compare scores with a region");
}

std::vector<MetricInfo> metrics_of_regions() {
  std::vector<MetricInfo> found;
  for (const MetricInfo& metric : metrics()) {
    if (metric.needs == MetricNeeds::kRegion) found.push_back(metric);
  }
  return found;
}

TEST(Metrics, AreOneWhereTheMapIsTheRegionAndZeroWhereItIsTheBackground) {
  const std::vector<double> scores{0, 1, 1, 0};
  for (const MetricInfo& metric : metrics_of_regions()) {
    EXPECT_EQ(localisation(metric.name, scores, {false, true, true, false}), 1) << metric.name;
    // Precision at full recall is never below the share of the region: a triangle under 0.5.
    const double least = metric.name == "auprc" ? 0.25 : 0;
    EXPECT_EQ(localisation(metric.name, scores, {true, false, false, true}), least) << metric.name;
  }
}

TEST(Metrics, DoNotDependOnThePositiveScaleOfScores) {
  const std::vector<double> scores{0.5, -1, 2, 0.25, 1};
  const std::vector<bool> region{true, false, true, false, false};
  std::vector<double> larger = scores;
  for (double& score : larger) score *= 1024;
  for (const MetricInfo& metric : metrics_of_regions()) {
    EXPECT_EQ(localisation(metric.name, scores, region), localisation(metric.name, larger, region))
        << metric.name;
  }
}

TEST(Metrics, MapsThatCannotBeJudgedAreNamed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(message_of([] { localisation("iou", std::vector<double>{1, 2}, {true}); }),
            "iou: 2 scores but a region of 1 cells");
  EXPECT_EQ(message_of([] { localisation("iou", {}, {}); }), "iou: the map has no scores");
  EXPECT_EQ(message_of([&] {
              localisation("relevance-mass", std::vector<double>{1, nan}, {true, false});
            }),
            "relevance-mass: score 1 is nan, not a finite number");
  EXPECT_EQ(message_of([] { (void)Localisation("mean-iou").value(); }),
            "mean-iou: no map was added");
}

}  // namespace
}  // namespace whyformer
