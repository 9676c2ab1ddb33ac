#include "report/json/trust_json.h"

#include "whyformer/evaluate.h"

namespace whyformer::report {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

const char* verdict_name(TrustVerdict verdict) {
  switch (verdict) {
    case TrustVerdict::kBetterThanRandom:
      return "better-than-random";
    case TrustVerdict::kWorseThanRandom:
      return "worse-than-random";
    case TrustVerdict::kLikeRandom:
      break;
  }
  return "like-random";
}

Json percentile_json(const Percentile& percentile) {
  return {{"value", percentile.value}, {"error", percentile.error}};
}

Json agreement_json(const std::vector<MethodAgreement>& agreement) {
  Json list = Json::array();
  for (const MethodAgreement& one : agreement) {
    list.push_back(
        {{"method", one.method}, {"spearman", or_null(one.spearman)}, {"top_k", one.top_k}});
  }
  return list;
}

Json stability_json(const std::optional<Stability>& stability) {
  if (!stability) return nullptr;
  return {{"max_sensitivity", stability->max_sensitivity},
          {"spearman", or_null(stability->spearman)},
          {"inputs", stability->inputs}};
}

Json sanity_json(const std::optional<SanityFinding>& finding) {
  if (!finding) return nullptr;
  const auto name = [](SanityVerdict verdict) {
    return kSanityVerdictNames[static_cast<size_t>(verdict)];
  };
  return {{"depends_on_class", name(finding->depends_on_class)},
          {"depends_on_weights", name(finding->depends_on_weights)},
          {"inputs", finding->inputs}};
}

Json followed_json() {
  Json followed = Json::array();
  for (const char* metric : kMetricsOfTrust) {
    followed.push_back({{"name", metric},
                        {"correlation", or_null(mean_truth_followed(metric))},
                        {"follows", follows_truth(metric)}});
  }
  return followed;
}

}  // namespace

Json trust_json(const Trust& trust) {
  return {{"verdict", verdict_name(trust.verdict)},
          {"p_value", trust.p_value},
          {"percentile", percentile_json(trust.percentile)},
          {"comprehensiveness", trust.comprehensiveness},
          {"comprehensiveness_percentile", percentile_json(trust.comprehensiveness_percentile)},
          {"sufficiency", trust.sufficiency},
          {"sufficiency_percentile", percentile_json(trust.sufficiency_percentile)},
          {"agreement", agreement_json(trust.agreement)},
          {"stability", stability_json(trust.stability)},
          {"completeness_gap", or_null(trust.completeness_gap)},
          {"class_specific", trust.class_specific},
          {"sanity", sanity_json(trust.sanity)},
          {"curve",
           {{"shares", trust.curve.shares},
            {"removed", trust.curve.removed},
            {"kept", trust.curve.kept}}},
          {"notes", trust.notes}};
}

Json trust_setting_json(const TrustSetting& setting) {
  const TrustBand& band = setting.band;
  return {
      {"hiding", setting.hiding},
      {"space", setting.space},
      {"answer", setting.answer},
      {"hidden", setting.hidden},
      {"units", setting.units},
      {"orders", setting.orders},
      {"top_k", setting.top_k},
      {"group_sizes", setting.group_sizes},
      {"band",
       {{"shares", band.shares},
        {"removed",
         {{"mean", band.removed_mean}, {"low", band.removed_low}, {"high", band.removed_high}}},
        {"kept", {{"mean", band.kept_mean}, {"low", band.kept_low}, {"high", band.kept_high}}}}},
      {"has_sanity_card", setting.has_sanity_card},
      {"metrics", followed_json()},
      {"evaluations", setting.evaluations},
      {"seconds", setting.seconds},
      {"notes", setting.notes}};
}

}  // namespace whyformer::report
