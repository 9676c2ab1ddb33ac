#include "report/views/row_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/views/waterfall.h"
#include "whyformer/agreement.h"
#include "whyformer/printable.h"

namespace whyformer::report {
namespace {

std::optional<double> agreement(const Explanation& explanation, const Attribution& reference,
                                const Attribution& other) {
  std::vector<double> a, b;
  for (size_t unit = 0; unit < explanation.units.size(); ++unit) {
    if (explanation.units[unit].special) continue;
    const double first = reference.scores[unit], second = other.scores[unit];
    if (!std::isfinite(first) || !std::isfinite(second)) continue;
    a.push_back(std::abs(first));
    b.push_back(std::abs(second));
  }
  const std::optional<Correlation> found = spearman(a, b);
  return found ? std::optional(found->value) : std::nullopt;
}

}  // namespace

std::string row_agreement_sentence(const Explanation& explanation) {
  const auto& all = explanation.attributions;
  const auto reference = std::ranges::find_if(all, adds_up);
  if (reference == all.end()) return {};
  std::string told;
  for (const Attribution& other : all) {
    if (&other == &*reference) continue;
    const std::optional<double> value = agreement(explanation, *reference, other);
    told += fmt::format("{}{} {}", told.empty() ? "" : ", ", printable(other.method),
                        value ? fmt::format("{:.2f}", *value) : "undefined");
  }
  if (told.empty()) return {};
  return fmt::format(
      "Agreement with {} in this row (Spearman of |scores|): {}. One row and one trained model "
      "tell "
      "little of a method.",
      printable(reference->method), told);
}

}  // namespace whyformer::report
