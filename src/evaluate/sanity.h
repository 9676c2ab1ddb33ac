// What sanity checks compare, and what they conclude.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "whyformer/evaluate.h"
#include "whyformer/sanity.h"

namespace whyformer {

// What is the same for all explanations of an input.
struct ScoredUnits {
  std::vector<bool> special;
  MapSize patches = {};  // 0 × 0 where the input is no picture
  int64_t first_patch = 0;
};
ScoredUnits scored_units(const Explanation& explanation);

// Two explanations of one input by one method.
struct ScoreSimilarity {
  std::optional<double> magnitudes, signed_scores, structure;
  bool identical = false;
};

// Throws InvalidInput where the explanations do not score the same units.
ScoreSimilarity compare_scores(const ScoredUnits& units, std::span<const double> before,
                               std::span<const double> after);

struct SanityStepName {
  SanityChange change = SanityChange::kCascading;
  std::string step;
};
SanityComparison summarise(const SanityStepName& what, std::span<const ScoreSimilarity> inputs,
                           int64_t seed);

// Fills in verdicts and findings; `steps` are those of the report.
void judge(MethodSanity& method, const std::vector<SanityStep>& steps);

}  // namespace whyformer
