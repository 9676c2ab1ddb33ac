#include "evaluate/sanity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "evaluate/bootstrap.h"
#include "evaluate/magnitudes.h"
#include "evaluate/structural_similarity.h"
#include "whyformer/agreement.h"
#include "whyformer/error.h"
#include "whyformer/printable.h"

namespace whyformer {
namespace {

std::optional<double> rank_correlation(std::span<const double> a, std::span<const double> b) {
  const auto found = spearman(a, b);
  return found ? std::optional(found->value) : std::nullopt;
}

MeanSimilarity mean_of(std::span<const ScoreSimilarity> inputs,
                       std::optional<double> ScoreSimilarity::*which, int64_t seed) {
  std::vector<double> values;
  for (const ScoreSimilarity& one : inputs) {
    if (one.*which) values.push_back(*(one.*which));
  }
  MeanSimilarity result{.inputs = static_cast<int64_t>(values.size())};
  if (values.empty()) return result;
  double sum = 0;
  for (const double value : values) sum += value;
  result.mean = sum / static_cast<double>(values.size());
  if (const auto interval = mean_interval(values, {.seed = seed})) {
    result.low = interval->low;
    result.high = interval->high;
  }
  return result;
}

const SanityComparison* find(const MethodSanity& method, SanityChange change,
                             const std::string& step) {
  const auto found = std::ranges::find_if(method.comparisons, [&](const SanityComparison& one) {
    return one.change == change && one.step == step && one.inputs > 0;
  });
  return found == method.comparisons.end() ? nullptr : &*found;
}

bool is_identical(const SanityComparison* one) {
  return one != nullptr && one->identical == one->inputs;
}

// The similarity that a method is judged by; nothing for too few inputs.
std::optional<double> judged(const MethodSanity& method, const SanityComparison& one) {
  const MeanSimilarity& similarity = method.is_signed ? one.signed_scores : one.magnitudes;
  return similarity.inputs < kFewestSanityInputs ? std::nullopt : similarity.mean;
}

std::string of_what(const MethodSanity& method) { return method.is_signed ? "scores" : "|scores|"; }

std::string too_few(const std::string& what, int64_t inputs) {
  return fmt::format("Whether scores depend on the {} cannot be told from {}: {} are needed.", what,
                     quantity(inputs, "input"), kFewestSanityInputs);
}

void judge_class(MethodSanity& method) {
  const SanityComparison* other = find(method, SanityChange::kOtherTarget, "");
  if (other == nullptr) return;
  const std::string inputs = quantity(other->inputs, "input");
  if (is_identical(other)) {
    method.depends_on_class = SanityVerdict::kNo;
    method.findings.push_back(fmt::format(
        "Cannot see the class: on {} the scores for another class are the same.", inputs));
    return;
  }
  const auto similarity = judged(method, *other);
  if (!similarity) {
    method.findings.push_back(too_few("class", other->inputs));
    return;
  }
  const bool alike = *similarity >= kNearlyTheSame;
  method.depends_on_class = alike ? SanityVerdict::kPartly : SanityVerdict::kYes;
  method.findings.push_back(fmt::format(
      "{}: Spearman's correlation of {} with those for another class is {:.2f} on average.",
      alike ? "Hardly depends on the class" : "Depends on the class", of_what(method),
      *similarity));
}

void judge_weights(MethodSanity& method, const std::vector<SanityStep>& steps) {
  if (steps.empty()) return;
  const SanityComparison* all = find(method, SanityChange::kCascading, steps.back().name);
  const SanityComparison* head = find(method, SanityChange::kCascading, "head");
  if (head == nullptr) head = find(method, SanityChange::kIndependent, "head");
  const bool blind_to_head = is_identical(head);
  if (is_identical(all)) {
    method.depends_on_weights = SanityVerdict::kNo;
    method.findings.push_back("Cannot see the weights: scores are the same once all are random.");
    return;
  }
  const auto similarity = all == nullptr ? std::nullopt : judged(method, *all);
  if (similarity) {
    const bool no = *similarity >= kNearlyTheSame, partly = *similarity >= kStillAlike;
    method.depends_on_weights = no                        ? SanityVerdict::kNo
                                : partly || blind_to_head ? SanityVerdict::kPartly
                                                          : SanityVerdict::kYes;
    method.findings.push_back(fmt::format(
        "{}: Spearman's correlation of {} with those of a model of random weights is {:.2f} on "
        "average.",
        no       ? "Says next to nothing about the weights"
        : partly ? "Says little about the weights"
                 : "Depends on the weights",
        of_what(method), *similarity));
  } else if (all != nullptr) {
    method.findings.push_back(too_few("weights", all->inputs));
  }
  if (blind_to_head) {
    method.findings.push_back(
        "Cannot see the layers behind the last attention layer: scores are the same once their "
        "weights are random.");
  }
}

}  // namespace

ScoredUnits scored_units(const Explanation& explanation) {
  ScoredUnits units;
  for (const Unit& unit : explanation.units) units.special.push_back(unit.special);
  if (explanation.picture) {
    units.patches = {explanation.picture->rows, explanation.picture->columns};
    units.first_patch = explanation.picture->first_patch;
  }
  return units;
}

ScoreSimilarity compare_scores(const ScoredUnits& units, std::span<const double> before,
                               std::span<const double> after) {
  if (before.size() != after.size() || before.size() != units.special.size()) {
    throw InvalidInput(
        fmt::format("explanations of {} and {} scores cannot be compared unit by unit",
                    before.size(), after.size()));
  }
  ScoreSimilarity result;
  // Numbers that are not finite are equal to themselves here.
  result.identical = std::memcmp(before.data(), after.data(), before.size_bytes()) == 0;
  std::vector<double> a, b;
  for (size_t i = 0; i < before.size(); ++i) {
    if (units.special[i] || std::isnan(before[i]) || std::isnan(after[i])) continue;
    a.push_back(before[i]);
    b.push_back(after[i]);
  }
  const std::vector<double> a_sizes = magnitudes_of(a), b_sizes = magnitudes_of(b);
  result.signed_scores = rank_correlation(a, b);
  result.magnitudes = rank_correlation(a_sizes, b_sizes);
  const int64_t patches = units.patches.rows * units.patches.columns;
  if (patches > 0) {
    const auto of_patches = [&](std::span<const double> scores) {
      return magnitudes_of(scores.subspan(units.first_patch, patches));
    };
    result.structure = structural_similarity(of_patches(before), of_patches(after), units.patches);
  }
  return result;
}

SanityComparison summarise(const SanityStepName& what, std::span<const ScoreSimilarity> inputs,
                           int64_t seed) {
  SanityComparison result{.change = what.change, .step = what.step};
  result.magnitudes = mean_of(inputs, &ScoreSimilarity::magnitudes, seed);
  result.signed_scores = mean_of(inputs, &ScoreSimilarity::signed_scores, seed);
  result.structure = mean_of(inputs, &ScoreSimilarity::structure, seed);
  result.inputs = static_cast<int64_t>(inputs.size());
  result.identical = std::ranges::count_if(inputs, &ScoreSimilarity::identical);
  return result;
}

void judge(MethodSanity& method, const std::vector<SanityStep>& steps) {
  judge_class(method);
  judge_weights(method, steps);
}

}  // namespace whyformer
