#include "report/views/trust_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "whyformer/printable.h"

namespace whyformer::report {
namespace {

std::string percent(const Percentile& percentile) {
  return fmt::format("{:.0f} ± {:.0f} %", 100 * percentile.value, 100 * percentile.error);
}

std::string verdict_line(const Trust& trust) {
  return fmt::format(
      "Trust: {} (p = {:.2g}). Beats {} of random rankings: {} by hiding what it ranks first, {} "
      "by "
      "keeping only that.",
      verdict_words(trust.verdict), trust.p_value, percent(trust.percentile),
      percent(trust.comprehensiveness_percentile), percent(trust.sufficiency_percentile));
}

std::string agreement_words(const Trust& trust) {
  std::vector<std::string> methods;
  for (const MethodAgreement& one : trust.agreement) {
    methods.push_back(one.spearman ? fmt::format("{} {:.2f}", one.method, *one.spearman)
                                   : fmt::format("{} –", one.method));
  }
  return fmt::format("rank correlation with {}", fmt::join(methods, ", "));
}

std::string stability_words(const Stability& stability) {
  return fmt::format(
      "under noise scores change by at most {:.0f} %{}", 100 * stability.max_sensitivity,
      stability.spearman ? fmt::format(", ranks correlate {:.2f} at least", *stability.spearman)
                         : "");
}

std::string context_line(const Trust& trust) {
  std::vector<std::string> facts;
  if (!trust.agreement.empty()) facts.push_back(agreement_words(trust));
  if (trust.stability) facts.push_back(stability_words(*trust.stability));
  if (trust.completeness_gap) {
    facts.push_back(fmt::format("scores add up to the answer within {:.2g}",
                                std::abs(*trust.completeness_gap)));
  }
  if (!trust.class_specific) facts.push_back("the same scores for every class");
  if (facts.empty()) return "";
  std::string line = fmt::format("{}.", fmt::join(facts, "; "));
  line[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(line[0])));
  return line;
}

}  // namespace

std::string verdict_words(TrustVerdict verdict) {
  switch (verdict) {
    case TrustVerdict::kBetterThanRandom:
      return "better than random";
    case TrustVerdict::kWorseThanRandom:
      return "worse than random";
    case TrustVerdict::kLikeRandom:
      break;
  }
  return "not told apart from a random ranking";
}

std::vector<std::string> trust_lines(const Attribution& attribution) {
  if (!attribution.trust) return {};
  std::vector<std::string> lines{verdict_line(*attribution.trust)};
  const std::string context = context_line(*attribution.trust);
  if (!context.empty()) lines.push_back(printable(context));
  return lines;
}

std::vector<std::string> trust_setting_lines(const Explanation& explanation) {
  if (!explanation.trust) return {};
  const TrustSetting& trust = *explanation.trust;
  std::vector<std::string> lines;
  lines.push_back(
      fmt::format("Trust compares each ranking of {} units with {} random ones, hiding by {}: the "
                  "{} is {:.3g}, "
                  "with everything hidden {:.3g} ({} inputs).",
                  trust.units, trust.orders, trust.hiding,
                  trust.space == "probability" ? "probability" : "output", trust.answer,
                  trust.hidden, trust.evaluations));
  lines.push_back(
      "It shows whether the ranking finds what this model's answer depends on, for this way of "
      "hiding; not whether the model is right, nor whether people would agree.");
  return lines;
}

}  // namespace whyformer::report
