// What a metric is: its entry in the list and the function that measures the scores of one method
// for one input.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "evaluate/ordered_path.h"
#include "evaluate/ranks.h"
#include "whyformer/evaluate.h"

namespace whyformer {

// What a metric may read. Scores are finite; there is at least one.
struct Evidence {
  std::span<const double> scores;  // of the units that can be hidden
  HiddenAnswers& answers;          // with those units as players
  double sum_of_all = 0;           // of all units, those too that cannot be hidden
  bool of_probability = false;     // scores explain the probability, not what the model gives
  std::span<const NoisyScores> noisy = {};
  int64_t seed = 0;

  Ranking ranking() const { return descending_order(scores); }
  // The lowest first; ties by index, so not the mirrored ranking.
  Ranking lowest_first() const {
    std::vector<double> negated;
    for (const double score : scores) negated.push_back(-score);
    return descending_order(negated);
  }
  // What the scores explain, of an answer.
  double explained(const HiddenAnswer& answer) const {
    return of_probability ? answer.value : answer.output;
  }
  // How far it falls when these units are hidden.
  double drop(const HiddenAnswers::Hidden& hidden) const {
    return explained(answers.whole()) - explained(answers(hidden));
  }
};

// How the ratios of many maps become one: every map counts alike, or every cell does.
enum class OverMaps { kMeanOfRatios, kRatioOfSums };

// It has one of the two functions.
struct Metric {
  MetricInfo info;
  // Of metrics that need a region. Always the same number of ratios; the metric is their mean, and
  // not defined where one of them is 0 / 0. The map is never empty, its scores are finite and its
  // region has a value for each.
  std::vector<Ratio> (*in_region)(std::span<const double> scores,
                                  const std::vector<bool>& region) = nullptr;
  OverMaps over_maps = OverMaps::kMeanOfRatios;
  // Of all others. Nothing where the metric is not defined, as a correlation with constant scores.
  // Called twice where it asks for answers: see HiddenAnswers::complete.
  std::optional<double> (*measure)(const Evidence& evidence) = nullptr;
};

// One line per metric; metrics.cpp lists them.
extern const Metric kComprehensiveness;
extern const Metric kSufficiency;
extern const Metric kDeletion;
extern const Metric kInsertion;
extern const Metric kPositivePerturbation;
extern const Metric kNegativePerturbation;
extern const Metric kRegionPerturbation;
extern const Metric kIrof;
extern const Metric kRoad;
extern const Metric kRoadMorf;
extern const Metric kRoadLerf;
extern const Metric kFaithfulnessCorrelation;
extern const Metric kFaithfulnessEstimate;
extern const Metric kSensitivityN;
extern const Metric kInfidelity;
extern const Metric kScaledInfidelity;
extern const Metric kMonotonicity;
extern const Metric kMonotonicityCorrelation;
extern const Metric kCompleteness;
extern const Metric kNonSensitivity;
extern const Metric kKeepPositive;
extern const Metric kRemovePositive;
extern const Metric kKeepNegative;
extern const Metric kRemoveNegative;
extern const Metric kKeepAbsolute;
extern const Metric kRemoveAbsolute;
extern const Metric kMaxSensitivity;
extern const Metric kLocalLipschitz;
extern const Metric kComplexity;
extern const Metric kSparseness;
extern const Metric kEffectiveComplexity;
extern const Metric kPointingGame;
extern const Metric kIou;
extern const Metric kIouOfEqualArea;
extern const Metric kMeanIou;
extern const Metric kRelevanceMass;
extern const Metric kRelevanceRank;
extern const Metric kTopKIntersection;
extern const Metric kRocAuc;
extern const Metric kAuprc;
extern const Metric kTokenF1;
extern const Metric kIouF1;

// Throws InvalidInput that lists the known names.
const Metric& find_metric(std::string_view name);

}  // namespace whyformer
