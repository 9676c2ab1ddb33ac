#include "report/views/trust_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "whyformer/evaluate.h"
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

// What the model's sanity card says against the method, or for it.
std::string sanity_words(const SanityFinding& finding) {
  const auto words = [](SanityVerdict verdict, const char* what) -> std::string {
    switch (verdict) {
      case SanityVerdict::kYes:
        return fmt::format("depend on the {}", what);
      case SanityVerdict::kPartly:
        return fmt::format("depend only partly on the {}", what);
      case SanityVerdict::kNo:
        return fmt::format("do not depend on the {}", what);
      case SanityVerdict::kUnknown:
        break;
    }
    return fmt::format("depend on the {} in a way the check could not tell", what);
  };
  return fmt::format("by the sanity card ({}) scores {} and {}", quantity(finding.inputs, "input"),
                     words(finding.depends_on_class, "class"),
                     words(finding.depends_on_weights, "weights"));
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
  if (trust.sanity) facts.push_back(sanity_words(*trust.sanity));
  if (facts.empty()) return "";
  std::string line = fmt::format("{}.", fmt::join(facts, "; "));
  line[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(line[0])));
  return line;
}

// Metrics with how far they ranked methods as known reasons do.
std::string followed_words(bool follows) {
  std::vector<std::string> metrics;
  for (const char* metric : kMetricsOfTrust) {
    const std::optional<double> followed = mean_truth_followed(metric);
    if (followed && follows_truth(metric) == follows)
      metrics.push_back(fmt::format("{} ({:.2f})", metric, *followed));
  }
  return fmt::format("{}", fmt::join(metrics, " and "));
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
                  "with everything hidden {:.3g} ({}).",
                  trust.units, trust.orders, trust.hiding,
                  trust.space == "probability" ? "probability" : "output", trust.answer,
                  trust.hidden, quantity(trust.evaluations, "input")));
  lines.push_back(
      "It shows whether the ranking finds what this model's answer depends on, for this way of "
      "hiding; not whether the model is right, nor whether people would agree.");
  lines.push_back(
      fmt::format("On models whose reasons are known, {} rank methods as the truth does (rank "
                  "correlation), and "
                  "the verdict weighs them so; {} do not, and say nothing of being right.",
                  followed_words(true), followed_words(false)));
  if (!trust.has_sanity_card) {
    lines.push_back(
        "Whether scores depend on the weights is not known: this model has no sanity card yet; a "
        "sanity check makes one.");
  }
  return lines;
}

}  // namespace whyformer::report
