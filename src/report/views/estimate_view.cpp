#include "report/views/estimate_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/text.h"

namespace whyformer::report {
namespace {

constexpr int kMostTicksPerSide = 9;
constexpr size_t kMostInteracting = 40;  // units in a matrix that is drawn

// Some units have no score and the others add up without it, as the row itself among those of its
// context. Where they do not, the sum is none either.
double sum_of_scores(const Attribution& attribution) {
  constexpr double kRounding = 1e-3;
  double sum = 0;
  bool has_none = false;
  for (const double score : attribution.scores) {
    has_none |= std::isnan(score);
    sum += std::isnan(score) ? 0 : score;
  }
  const double base = attribution.estimate->base, value = attribution.estimate->value;
  const double largest = std::max({std::abs(base), std::abs(value), std::abs(sum)});
  if (has_none && !(std::abs(base + sum - value) <= kRounding * largest)) return std::nan("");
  return sum;
}

// What the digits of base, sum and value are chosen by, so that they add up to the eye.
double scale_of_sums(const Attribution& attribution) {
  const Estimate& estimate = *attribution.estimate;
  return std::max(
      {std::abs(estimate.base), std::abs(estimate.value), std::abs(sum_of_scores(attribution))});
}

std::string plain(double number, double scale) {
  return format_score(number, scale, ScoreKind::kMagnitude);
}

// The shap package's rule: seven steps over the axis, rounded, from its middle, none near the ends.
// Where its digits leave no step at all, one more does.
void set_ticks(ForceBar& bar) {
  const double range = bar.high - bar.low;
  bar.decimals = std::clamp(static_cast<int>(std::lround(1 - std::log10(range))), -300, 300);
  const auto rounded = [&bar](double number) {
    const double unit = std::pow(10.0, -bar.decimals);
    return std::round(number / unit) * unit;
  };
  if (rounded(range / 7) == 0) ++bar.decimals;
  const double middle = rounded((bar.low + bar.high) / 2), step = rounded(range / 7),
               free = range / 14;
  const auto within = [&](double place) {
    return place >= bar.low + free && place <= bar.high - free;
  };
  for (int i = -kMostTicksPerSide; step > 0 && i <= kMostTicksPerSide; ++i) {
    if (within(middle + i * step)) bar.ticks.push_back(middle + i * step);
  }
}

}  // namespace

std::string estimate_line(const Attribution& attribution) {
  if (!attribution.estimate) return "";
  const Estimate& estimate = *attribution.estimate;
  const double sum = sum_of_scores(attribution), value = estimate.base + sum;
  const double scale = scale_of_sums(attribution);
  const std::string unfinished = estimate.finished ? "" : " · stopped before the end";
  if (estimate.r_squared) {
    return fmt::format("linear model: intercept {} · model output {} {} · R² {:.2f}{}",
                       plain(estimate.base, scale), plain(estimate.value, scale),
                       valid_utf8(estimate.space), *estimate.r_squared, unfinished);
  }
  std::string line =
      fmt::format("base {} {} {} = {} {}", plain(estimate.base, scale), sum < 0 ? "-" : "+",
                  plain(std::abs(sum), scale), plain(value, scale), valid_utf8(estimate.space));
  if (plain(value, scale) != plain(estimate.value, scale)) {
    line += fmt::format(" · model output {}", plain(estimate.value, scale));
  }
  return line + unfinished;
}

std::vector<ForceSegment> summed_words(const Explanation& explanation,
                                       const Attribution& attribution) {
  const std::vector<TextPiece> pieces = pieces_of(explanation);
  std::vector<ForceSegment> segments;
  int64_t word = -1;
  for (size_t i = 0; i < explanation.units.size(); ++i) {
    const Unit& unit = explanation.units[i];
    if (!segments.empty() && unit.word >= 0 && unit.word == word) {
      segments.back().text += pieces[i].gap + pieces[i].text;
      segments.back().score += attribution.scores[i];
    } else {
      segments.push_back({.text = pieces[i].text,
                          .first_unit = static_cast<int64_t>(i),
                          .score = attribution.scores[i]});
    }
    word = unit.word;
  }
  return segments;
}

std::optional<ForceBar> force_bar(const Explanation& explanation, const Attribution& attribution) {
  if (!attribution.estimate || attribution.estimate->r_squared) return {};
  const Estimate& estimate = *attribution.estimate;
  const double value = estimate.base + sum_of_scores(attribution);
  if (!std::isfinite(value)) return {};
  ForceBar bar{.base = estimate.base, .value = value, .first = value, .last = value};
  bar.scale = scale_of_sums(attribution);
  bar.segments = summed_words(explanation, attribution);
  std::erase_if(bar.segments, [](const ForceSegment& segment) {
    return segment.score == 0 || std::isnan(segment.score);
  });
  std::stable_sort(bar.segments.begin(), bar.segments.end(),
                   [](const ForceSegment& a, const ForceSegment& b) {
                     return std::abs(a.score) > std::abs(b.score);
                   });
  for (ForceSegment& segment : bar.segments) {
    if (segment.score > 0) {
      segment.to = bar.first;
      segment.from = bar.first -= segment.score;
    } else {
      segment.from = bar.last;
      segment.to = bar.last -= segment.score;
    }
  }
  std::stable_sort(bar.segments.begin(), bar.segments.end(),
                   [](const ForceSegment& a, const ForceSegment& b) { return a.from < b.from; });
  double spare = 0.1 * (bar.last - bar.first);
  if (!(spare > 0)) spare = std::max(1e-6, 0.1 * std::abs(value));  // nothing was shared out
  bar.low = bar.first - spare;
  bar.high = bar.last + spare;
  if (!std::isfinite(bar.low) || !std::isfinite(bar.high) || !std::isfinite(bar.high - bar.low))
    return {};
  set_ticks(bar);
  return bar;
}

std::string format_place(double place, const ForceBar& bar) { return plain(place, bar.scale); }

std::optional<Interactions> interactions_of(const Explanation& explanation,
                                            const Attribution& attribution) {
  if (!attribution.estimate || attribution.estimate->interactions.empty()) return {};
  const std::vector<double>& matrix = attribution.estimate->interactions;
  const size_t count = explanation.units.size();
  std::vector<double> weights(count, 0.0);  // of a unit's row
  for (size_t i = 0; i < matrix.size(); ++i) weights[i / count] += std::abs(matrix[i]);
  std::vector<size_t> order;
  for (size_t i = 0; i < count; ++i) {
    if (weights[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  order.resize(std::min(order.size(), kMostInteracting));
  std::sort(order.begin(), order.end());

  Interactions result{.names = {}, .units = order, .pairs = {}};
  const std::vector<TextPiece> pieces = pieces_of(explanation);
  for (size_t row = 0; row < order.size(); ++row) {
    result.names.push_back(pieces[order[row]].text);
    for (size_t column = 0; column <= row; ++column) {
      const double cell = matrix[order[row] * count + order[column]];
      const double value = row == column ? cell : cell + matrix[order[column] * count + order[row]];
      result.pairs.push_back({row, column, value});
      if (std::isfinite(value)) result.scale = std::max(result.scale, std::abs(value));
    }
  }
  return result;
}

std::vector<Interactions::Pair> strongest_pairs(const Interactions& interactions, size_t limit) {
  std::vector<Interactions::Pair> pairs;
  for (const Interactions::Pair& pair : interactions.pairs) {
    if (pair.first != pair.second && std::isfinite(pair.value) && pair.value != 0)
      pairs.push_back(pair);
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) {
    return std::abs(a.value) > std::abs(b.value);
  });
  pairs.resize(std::min(limit, pairs.size()));
  return pairs;
}

}  // namespace whyformer::report
