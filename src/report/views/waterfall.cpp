#include "report/views/waterfall.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/estimate_view.h"
#include "report/views/row_view.h"
#include "whyformer/error.h"

namespace whyformer::report {
namespace {

constexpr double kRounding = 1e-3;  // of the largest number among base, value and their distance
constexpr const char* kThatDo =
    "shap, exact-shap, kernel-shap, permutation-shap, partition-shap and sampling-shap do";

double sum_of(const Attribution& attribution) {
  double sum = 0;
  for (const double score : attribution.scores) sum += std::isnan(score) ? 0 : score;
  return sum;
}

// Special tokens that nothing was given to are no step.
std::vector<ForceSegment> segments_of(const Explanation& explanation,
                                      const Attribution& attribution) {
  std::vector<ForceSegment> segments = summed_words(explanation, attribution);
  std::erase_if(segments, [&](const ForceSegment& segment) {
    const bool special = explanation.units[static_cast<size_t>(segment.first_unit)].special;
    return std::isnan(segment.score) || (special && segment.score == 0);
  });
  std::stable_sort(segments.begin(), segments.end(),
                   [](const ForceSegment& a, const ForceSegment& b) {
                     return std::abs(a.score) > std::abs(b.score);
                   });
  return segments;
}

std::vector<WaterfallStep> steps_of(const Explanation& explanation,
                                    const std::vector<ForceSegment>& segments) {
  const bool all = segments.size() <= kMostWaterfallSteps;
  const size_t alone = all ? segments.size() : kMostWaterfallSteps - 1;
  std::vector<WaterfallStep> steps;
  for (size_t i = 0; i < alone; ++i) {
    steps.push_back(
        {.text = segments[i].text, .unit = segments[i].first_unit, .score = segments[i].score});
  }
  if (all) return steps;
  WaterfallStep rest{.text = fmt::format("{} other {}", segments.size() - alone,
                                         is_row(explanation) ? "columns" : "words")};
  for (size_t i = alone; i < segments.size(); ++i) rest.score += segments[i].score;
  steps.push_back(rest);
  return steps;
}

}  // namespace

bool adds_up(const Attribution& attribution) {
  if (!attribution.estimate || attribution.estimate->r_squared) return false;
  const Estimate& estimate = *attribution.estimate;
  const double sum = sum_of(attribution);
  const double size = std::max({std::abs(estimate.base), std::abs(estimate.value), std::abs(sum)});
  return std::isfinite(size) && std::abs(estimate.base + sum - estimate.value) <= kRounding * size;
}

std::optional<Waterfall> waterfall_of(const Explanation& explanation,
                                      const Attribution& attribution) {
  if (!adds_up(attribution)) return {};
  Waterfall fall{.base = attribution.estimate->base};
  fall.value = fall.base + sum_of(attribution);
  fall.steps = steps_of(explanation, segments_of(explanation, attribution));
  fall.scale =
      std::max({std::abs(fall.base), std::abs(fall.value), std::abs(fall.value - fall.base)});
  double low = std::min(fall.base, fall.value), high = std::max(fall.base, fall.value);
  double place = fall.value;
  for (WaterfallStep& step : fall.steps) {
    step.to = place;
    step.from = place -= step.score;
    low = std::min(low, place);
    high = std::max(high, place);
  }
  double spare = 0.05 * (high - low);
  if (!(spare > 0)) spare = std::max(1e-6, 0.1 * std::abs(fall.value));
  fall.axis = {low - spare, high + spare};
  if (!std::isfinite(fall.axis.high - fall.axis.low)) return {};
  return fall;
}

const Attribution& waterfall_method(const Explanation& explanation, const std::string& method) {
  bool found = method.empty();
  for (const Attribution& attribution : explanation.attributions) {
    if (!method.empty() && attribution.method != method) continue;
    found = true;
    if (waterfall_of(explanation, attribution)) return attribution;
  }
  if (!found) {
    throw InvalidInput(fmt::format("waterfall: the explanation has no scores by '{}'", method));
  }
  const std::string whose = method.empty() ? "these methods" : "'" + method + "'";
  throw InvalidInput(fmt::format(
      "waterfall: the scores of {} do not add up from a base to the model's output; those of {}",
      whose, kThatDo));
}

}  // namespace whyformer::report
