#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "relevance/policy.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr std::array kKinds{RuleKind::kIdentity,       RuleKind::kStop,    RuleKind::kProportional,
                            RuleKind::kAlphaBeta,      RuleKind::kGamma,   RuleKind::kBox,
                            RuleKind::kPositiveBySign, RuleKind::kGradient};

constexpr size_t kMostEntries = 10'000;

// One object of the file, with the place that errors name.
class Fields {
 public:
  Fields(const nlohmann::json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) fail("expected an object in braces");
  }

  [[noreturn]] void fail(std::string_view what) const {
    throw InvalidInput(fmt::format("{}: {}", place_, what));
  }

  void allow(std::initializer_list<std::string_view> known) const {
    for (const auto& [key, value] : json_.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      std::string list;
      for (const std::string_view name : known)
        list += (list.empty() ? "" : ", ") + std::string(name);
      fail(fmt::format("unknown key \"{}\"; known are {}", key.substr(0, 60), list));
    }
  }

  std::string text(const char* key, std::string fallback) const {
    if (!json_.contains(key)) return fallback;
    if (!json_[key].is_string()) fail(fmt::format("\"{}\" must be a text", key));
    return json_[key];
  }

  double number(const char* key, double fallback, double least) const {
    if (!json_.contains(key)) return fallback;
    if (!json_[key].is_number() || json_[key].get<double>() < least) {
      fail(fmt::format("\"{}\" must be a number from {}", key, least));
    }
    return json_[key];
  }

  bool flag(const char* key, bool fallback) const {
    if (!json_.contains(key)) return fallback;
    if (!json_[key].is_boolean()) fail(fmt::format("\"{}\" must be true or false", key));
    return json_[key];
  }

  const nlohmann::json* list(const char* key) const {
    if (!json_.contains(key)) return nullptr;
    if (!json_[key].is_array()) fail(fmt::format("\"{}\" must be a list in brackets", key));
    return &json_[key];
  }

 private:
  const nlohmann::json& json_;
  std::string place_;
};

RuleKind kind_named(const Fields& fields, const std::string& name) {
  std::string known;
  for (const RuleKind kind : kKinds) {
    if (name_of(kind) == name) return kind;
    known += (known.empty() ? "" : ", ") + std::string(name_of(kind));
  }
  fields.fail(fmt::format("there is no rule \"{}\"; known are {}", name.substr(0, 60), known));
}

PolicyEntry entry_of(const nlohmann::json& json, const std::string& place) {
  const Fields fields(json, place);
  fields.allow({"operator", "node", "rule", "epsilon", "sign_aware", "bias", "shares", "rescale",
                "alpha", "beta", "gamma"});
  PolicyEntry entry{fields.text("operator", "*"), fields.text("node", "*"), {}};
  Rule& rule = entry.rule;
  rule.kind = kind_named(fields, fields.text("rule", "proportional"));
  rule.stabiliser = {fields.number("epsilon", 1e-9, 0), fields.flag("sign_aware", false)};
  rule.bias = fields.flag("bias", false);
  rule.rescale = fields.flag("rescale", false);
  rule.alpha = fields.number("alpha", 1, 0);
  rule.beta = fields.number("beta", 0, 0);
  rule.gamma = fields.number("gamma", 0, 0);
  if (const nlohmann::json* shares = fields.list("shares")) {
    if (shares->size() != 2 || !(*shares)[0].is_number() || !(*shares)[1].is_number()) {
      fields.fail("\"shares\" must be two numbers, for the two factors of a product");
    }
    rule.shares = {(*shares)[0].get<double>(), (*shares)[1].get<double>()};
  }
  return entry;
}

}  // namespace

Policy parse_policy(std::string_view text, std::string_view file_name) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw InvalidInput(fmt::format("{}: this is not JSON", file_name));
  const Fields fields(json, std::string(file_name));
  fields.allow({"name", "seed", "base", "rules"});
  Policy policy;
  const std::string base = fields.text("base", "");
  if (!base.empty()) policy = policy_named(base);
  policy.name = fields.text("name", std::string(file_name));
  const std::string seed =
      fields.text("seed", policy.seed == Policy::Seed::kOne ? "one" : "output");
  if (seed != "one" && seed != "output") fields.fail("\"seed\" must be \"one\" or \"output\"");
  policy.seed = seed == "one" ? Policy::Seed::kOne : Policy::Seed::kOutput;
  const nlohmann::json* rules = fields.list("rules");
  if (rules == nullptr || rules->empty()) fields.fail("\"rules\" must list at least one rule");
  if (rules->size() > kMostEntries) fields.fail(fmt::format("more than {} rules", kMostEntries));
  std::vector<PolicyEntry> entries;
  for (size_t i = 0; i < rules->size(); ++i) {
    entries.push_back(entry_of((*rules)[i], fmt::format("{}, rule {}", file_name, i + 1)));
  }
  policy.file = file_name;
  policy.written = entries.size();
  // What the file says comes before its base.
  policy.entries.insert(policy.entries.begin(), entries.begin(), entries.end());
  return policy;
}

}  // namespace whyformer
