// How far the explanation of one input can be trusted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "whyformer/options.h"

namespace whyformer {

// Whether the scores of a method depend on something, as a sanity check found (sanity.h).
enum class SanityVerdict { kYes, kPartly, kNo, kUnknown };
inline constexpr std::array kSanityVerdictNames{"yes", "partly", "no", "unknown"};

// What the sanity card of a model says of a method with these options.
struct SanityFinding {
  std::string method;
  Options options;
  SanityVerdict depends_on_class = SanityVerdict::kUnknown;
  SanityVerdict depends_on_weights = SanityVerdict::kUnknown;
  int64_t inputs = 0;  // that were explained
};
// Nothing: the model has no card.
using SanityFindings = std::optional<std::vector<SanityFinding>>;

struct TrustRequest {
  // Random rankings that each method is compared with. With 40 m - 1 of them, a random ranking is
  // called better or worse than random in 1 case of 20, exactly.
  int64_t orders = 39;
  std::string hiding = "auto";  // how units are hidden, see the option `how` of leave-one-out
  int64_t noisy_inputs = 4;     // copies of the input that each method explains again; 0: none
  double radius = 0.02;         // of the noise, as a share of the range of the input's own numbers
  SanityFindings sanity = {};   // of the model, see sanity_findings in sanity.h
};

// The share of random rankings that a ranking beats, ties counted half, and its standard error.
struct Percentile {
  double value = 0;  // 0 to 1
  double error = 0;  // of an estimate from so many rankings: never 0
};

enum class TrustVerdict {
  kBetterThanRandom,  // at a significance level of 0.05, two-sided
  kLikeRandom,        // not told apart from random rankings
  kWorseThanRandom    // the reversed ranking would be better than random
};

// The model's answer along a ranking, for shares of the units from 0 to 1.
struct TrustCurve {
  std::vector<double> shares;
  std::vector<double> removed;  // the highest-ranked units hidden
  std::vector<double> kept;     // all others hidden
};

// The same over random rankings: their mean and the range that 90 % of them lie in.
struct TrustBand {
  std::vector<double> shares;
  std::vector<double> removed_mean, removed_low, removed_high;
  std::vector<double> kept_mean, kept_low, kept_high;
};

struct MethodAgreement {
  std::string method;
  std::optional<double> spearman;  // nothing where a side is constant
  double top_k = 0;                // share of the highest-ranked units that both have
};

// What a small change of the input's numbers does to the scores.
struct Stability {
  double max_sensitivity = 0;      // largest relative change, ‖φ(x + e) - φ(x)‖ / ‖φ(x)‖
  std::optional<double> spearman;  // smallest rank correlation with the scores themselves
  int64_t inputs = 0;              // noisy copies
};

// Of one method.
struct Trust {
  double comprehensiveness = 0;  // mean drop when the highest-ranked units are hidden
  double sufficiency = 0;        // mean drop when only they stay
  Percentile comprehensiveness_percentile, sufficiency_percentile;
  // Of comprehensiveness minus sufficiency, which the verdict goes by. Each counts as far as it
  // follows known reasons, see truth_followed in evaluate.h.
  Percentile percentile;
  double p_value = 1;  // of being as far from random rankings, two-sided
  TrustVerdict verdict = TrustVerdict::kLikeRandom;
  std::vector<MethodAgreement> agreement;  // with the other methods, in their order
  std::optional<Stability> stability;
  std::optional<double> completeness_gap;  // of methods whose scores should add up to the answer
  bool class_specific = true;              // as the method's definition says
  std::optional<SanityFinding> sanity;  // where the model's card has this method, options and all
  TrustCurve curve;
  std::vector<std::string> notes;  // what was not measured, and why
};

// The metrics that trust reports. The verdict goes by the first two.
inline constexpr std::array kMetricsOfTrust{"comprehensiveness", "sufficiency", "max-sensitivity",
                                            "completeness"};

// What the methods of one explanation share.
struct TrustSetting {
  std::string hiding;  // the way units were hidden, by name
  std::string space;   // of the answers: "probability", or what the model gives
  double answer = 0;   // of the whole input
  double hidden = 0;   // with everything hidden
  int64_t units = 0;   // that can be hidden
  int64_t orders = 0;
  int64_t top_k = 0;                 // of the agreement
  std::vector<int64_t> group_sizes;  // how many units are hidden or kept, at each step
  TrustBand band;
  bool has_sanity_card = false;
  int64_t evaluations = 0;  // inputs asked for
  double seconds = 0;
  std::vector<std::string> notes;
};

}  // namespace whyformer
