// The numbers and sentences of reports, and the prediction.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "explanation/label_names.h"
#include "report/views/text.h"
#include "report/views/view.h"

namespace whyformer::report {
namespace {

// Logits that are not finite tell more than probabilities of them.
bool tells_probabilities(const Explanation& explanation) {
  const std::vector<double>& probabilities = explanation.output.probabilities;
  const auto index = static_cast<size_t>(explanation.target.index);
  return index < probabilities.size() && probabilities.size() == explanation.output.values.size() &&
         std::isfinite(probabilities[index]);
}

}  // namespace

std::string format_score(double score, double scale, ScoreKind kind) {
  if (std::isnan(score)) return "not a number";
  if (std::isinf(score)) return score > 0 ? "infinite" : "-infinite";
  const char* sign = kind == ScoreKind::kSigned && score > 0 ? "+" : "";
  if (!(scale > 0))
    return fmt::format("{}{:.4g}", sign, score);  // also of scores without a scale: NaN
  if (scale >= 1e5 || scale < 1e-3) return fmt::format("{}{:.2e}", sign, score);
  const int decimals = std::clamp(3 - static_cast<int>(std::floor(std::log10(scale))), 0, 6);
  return fmt::format("{}{:.{}f}", sign, score, decimals);
}

std::string format_error(const std::optional<double>& error, double scale) {
  if (!error) return "";
  if (!std::isfinite(*error)) return "± ?";
  if (*error >= 1e5) return fmt::format("± {:.1e}", *error);  // whatever the scale of the scores
  return "± " + format_score(*error, scale, ScoreKind::kMagnitude);
}

std::string format_percent(double probability) {
  return std::isfinite(probability) ? fmt::format("{:.1f} %", 100 * probability) : "not a number";
}

std::string format_option(const OptionValue& value) {
  struct Format {
    std::string operator()(bool held) const { return held ? "yes" : "no"; }
    std::string operator()(int64_t held) const { return fmt::format("{}", held); }
    std::string operator()(double held) const { return fmt::format("{:.6g}", held); }
    std::string operator()(const std::string& held) const { return valid_utf8(held); }
  };
  return std::visit(Format{}, value);
}

std::string cost_line(const Attribution& attribution) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : attribution.options) {
    parts.push_back(fmt::format("{}={}", valid_utf8(name), format_option(value)));
  }
  const Cost& cost = attribution.cost;
  if (cost.forwards > 0) parts.push_back(fmt::format("{} forward", cost.forwards));
  if (cost.backwards > 0) parts.push_back(fmt::format("{} backward", cost.backwards));
  if (cost.seconds > 0) parts.push_back(fmt::format("{:.3g} s", cost.seconds));
  if (attribution.seed) parts.push_back(fmt::format("seed {}", *attribution.seed));
  if (attribution.completeness_gap) {
    parts.push_back(fmt::format("completeness gap {:.2g}", *attribution.completeness_gap));
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

std::string format_label(const LabelValue& answer) {
  const std::string number = answer.probability ? format_percent(*answer.probability)
                                                : format_score(answer.value, std::abs(answer.value),
                                                               ScoreKind::kMagnitude);
  return answer.label + " " + number;
}

LabelValue target_label(const Explanation& explanation) {
  const Target& target = explanation.target;
  return {target.index, target_name(explanation), target.value, target.probability, true};
}

std::vector<LabelValue> best_labels(const Explanation& explanation, size_t limit) {
  const std::vector<double>& values = explanation.output.values;
  const bool has_labels =
      explanation.output.space == "logit" || explanation.output.space == "value";
  // One text beside a picture is no choice among labels.
  if (!has_labels || values.empty() || panels_of(explanation).size() > 1) return {};
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto rank = [&](size_t i) { return std::isnan(values[i]) ? -HUGE_VAL : values[i]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return rank(a) > rank(b); });

  const auto target = static_cast<size_t>(explanation.target.index);
  const size_t count = std::min(limit, order.size());
  const auto place = std::find(order.begin(), order.end(), target);
  if (count > 0 && place != order.end() && place >= order.begin() + static_cast<int64_t>(count)) {
    order[count - 1] = target;
  }
  order.resize(count);

  const bool tells = tells_probabilities(explanation);
  std::vector<LabelValue> answers;
  for (const size_t i : order) {
    answers.push_back({static_cast<int64_t>(i), label_name(explanation, i), values[i],
                       tells ? std::optional(explanation.output.probabilities[i]) : std::nullopt,
                       i == target});
  }
  return answers;
}

}  // namespace whyformer::report
