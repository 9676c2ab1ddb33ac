// What a metric is: its entry in the list and the function that measures one map.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "whyformer/evaluate.h"

namespace whyformer {

// How the ratios of many maps become one: every map counts alike, or every cell does.
enum class OverMaps { kMeanOfRatios, kRatioOfSums };

struct Metric {
  MetricInfo info;
  // Always the same number of ratios; the metric is their mean. The map is never empty, its scores
  // are finite and its region has a value for each.
  std::vector<Ratio> (*measure)(std::span<const double> scores, const std::vector<bool>& region);
  OverMaps over_maps = OverMaps::kMeanOfRatios;
};

// One line per metric; metrics.cpp lists them.
extern const Metric kPointingGame;
extern const Metric kIou;
extern const Metric kIouOfEqualArea;
extern const Metric kMeanIou;
extern const Metric kRelevanceMass;

// Throws InvalidInput that lists the known names.
const Metric& find_metric(std::string_view name);

}  // namespace whyformer
