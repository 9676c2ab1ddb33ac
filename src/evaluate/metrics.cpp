#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "evaluate/metric.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::array kMetrics{
    &kComprehensiveness,
    &kSufficiency,
    &kDeletion,
    &kInsertion,
    &kPositivePerturbation,
    &kNegativePerturbation,
    &kRegionPerturbation,
    &kIrof,
    &kRoad,
    &kRoadMorf,
    &kRoadLerf,
    &kFaithfulnessCorrelation,
    &kFaithfulnessEstimate,
    &kSensitivityN,
    &kInfidelity,
    &kScaledInfidelity,
    &kMonotonicity,
    &kMonotonicityCorrelation,
    &kCompleteness,
    &kNonSensitivity,
    &kKeepPositive,
    &kRemovePositive,
    &kKeepNegative,
    &kRemoveNegative,
    &kKeepAbsolute,
    &kRemoveAbsolute,
    &kMaxSensitivity,
    &kLocalLipschitz,
    &kComplexity,
    &kSparseness,
    &kEffectiveComplexity,
    &kPointingGame,
    &kIou,
    &kIouOfEqualArea,
    &kMeanIou,
    &kRelevanceMass,
    &kRelevanceRank,
    &kTopKIntersection,
    &kRocAuc,
    &kAuprc,
    &kTokenF1,
    &kIouF1,
};

}  // namespace

std::span<const MetricInfo> metrics() {
  static const std::vector<MetricInfo> infos = [] {
    std::vector<MetricInfo> list;
    for (const Metric* metric : kMetrics) list.push_back(metric->info);
    return list;
  }();
  return infos;
}

const Metric& find_metric(std::string_view name) {
  std::vector<std::string> known;
  for (const Metric* metric : kMetrics) {
    if (metric->info.name == name) return *metric;
    known.push_back(metric->info.name);
  }
  throw InvalidInput(fmt::format("there is no metric '{}'; the metrics are {}", name.substr(0, 60),
                                 fmt::join(known, ", ")));
}

const MetricInfo& metric_named(std::string_view name) { return find_metric(name).info; }

}  // namespace whyformer
