#include "tests/support/sample_trust.h"

#include "tests/support/sample_explanations.h"

namespace whyformer::report {
namespace {

Trust sample_trust(TrustVerdict verdict, double share) {
  Trust trust{.comprehensiveness = 0.42,
              .sufficiency = 0.08,
              .comprehensiveness_percentile = {share, 0.02},
              .sufficiency_percentile = {0.9, 0.05},
              .percentile = {share, 0.03},
              .p_value = 0.05,
              .verdict = verdict,
              .completeness_gap = 0.0004};
  trust.agreement = {{"rollout", 0.25, 0.5}, {"constant", std::nullopt, 0}};
  trust.stability = Stability{.max_sensitivity = 0.125, .spearman = 0.97, .inputs = 4};
  trust.sanity = SanityFinding{.method = "gae",
                               .depends_on_class = SanityVerdict::kYes,
                               .depends_on_weights = SanityVerdict::kPartly,
                               .inputs = 12};
  trust.curve = {{0, 0.25, 0.5, 1}, {0.9, 0.5, 0.3, 0.2}, {0.2, 0.6, 0.8, 0.9}};
  trust.notes = {"Units without a score were ranked last."};
  return trust;
}

}  // namespace

Explanation trust_sample() {
  Explanation explanation = sample_explanation({.methods = 2});
  explanation.attributions[0].trust = sample_trust(TrustVerdict::kBetterThanRandom, 1);
  explanation.attributions[1].trust = sample_trust(TrustVerdict::kLikeRandom, 0.5);
  explanation.trust = TrustSetting{.hiding = "mask",
                                   .space = "probability",
                                   .answer = 0.9,
                                   .hidden = 0.2,
                                   .units = 8,
                                   .orders = 39,
                                   .top_k = 1,
                                   .group_sizes = {1, 1, 1, 2, 4}};
  TrustBand& band = explanation.trust->band;
  band.shares = explanation.attributions[0].trust->curve.shares;
  band.removed_mean = {0.9, 0.7, 0.5, 0.2};
  band.removed_low = {0.9, 0.6, 0.4, 0.2};
  band.removed_high = {0.9, 0.8, 0.6, 0.2};
  band.kept_mean = {0.2, 0.4, 0.6, 0.9};
  band.kept_low = {0.2, 0.3, 0.5, 0.9};
  band.kept_high = {0.2, 0.5, 0.7, 0.9};
  explanation.trust->has_sanity_card = true;
  explanation.trust->evaluations = 276;
  explanation.trust->seconds = 0.18;
  return explanation;
}

}  // namespace whyformer::report
