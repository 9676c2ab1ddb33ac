#include "report/json/roles_json.h"

#include <cmath>

#include "report/views/roles_view.h"

namespace whyformer::report {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

Json head_json(const HeadRoles& roles, const HeadRole& head) {
  Json shares = Json::object();
  for (size_t role = 0; role < roles.roles.size(); ++role) {
    const RoleShare& share = head.shares[role];
    shares[roles.roles[role].name] = {{"hits", share.hits},
                                      {"tokens", share.tokens},
                                      {"share", number_or_null(share.share())},
                                      {"chance", number_or_null(share.chance)},
                                      {"deviation", number_or_null(share.deviation)},
                                      {"p", number_or_null(share.p)},
                                      {"holds", share.holds}};
  }
  return {{"role", head.role < 0 ? Json(nullptr) : Json(roles.roles[head.role].name)},
          {"shares", shares}};
}

Json relation_json(const RelationArcs& one) {
  return {{"relation", one.relation},
          {"arcs", one.arcs},
          {"offset", one.offset},
          {"offset_hits", one.offset_hits},
          {"best",
           {{"direction", direction_name(one.best.direction)},
            {"layer", one.best.layer},
            {"head", one.best.head},
            {"hits", one.best.hits}}},
          {"p", one.p},
          {"holds", one.holds},
          {"dependent_to_head", one.dependent_to_head},
          {"head_to_dependent", one.head_to_dependent}};
}

Json syntax_json(const HeadSyntax& syntax) {
  Json relations = Json::array();
  for (const RelationArcs& one : syntax.relations) relations.push_back(relation_json(one));
  return {{"sentences", syntax.sentences},
          {"arcs", syntax.arcs},
          {"arcs_left_out", syntax.arcs_left_out},
          {"relations", relations}};
}

}  // namespace

Json roles_json(const HeadRoles& roles) {
  const HeadRolesRequest& settings = roles.settings;
  Json names = Json::array(), heads = Json::array();
  for (const RoleInfo& role : roles.roles) {
    names.push_back({{"name", role.name}, {"mark", role.mark}, {"summary", role.summary}});
  }
  for (const auto& layer : roles.heads) {
    Json row = Json::array();
    for (const HeadRole& head : layer) row.push_back(head_json(roles, head));
    heads.push_back(row);
  }
  return {{"settings",
           {{"share", settings.share},
            {"permutations", settings.permutations},
            {"level", settings.level},
            {"seed", settings.seed},
            {"min_tokens", settings.min_tokens}}},
          {"roles", names},
          {"heads", heads},
          {"syntax", roles.syntax ? syntax_json(*roles.syntax) : Json(nullptr)}};
}

}  // namespace whyformer::report
