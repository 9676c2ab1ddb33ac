#include "report/views/roles_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/views/concepts_view.h"
#include "report/views/view.h"
#include "whyformer/heads.h"

namespace whyformer::report {
namespace {

constexpr size_t kMostHolders = 3;

struct RoleHolder {
  HeadName name;
  const RoleShare* share;
};

// Heads by their share, the highest first; those without tokens are left out.
std::vector<RoleHolder> ranked_holders(const HeadRoles& roles, size_t role) {
  std::vector<RoleHolder> all;
  for (size_t layer = 0; layer < roles.heads.size(); ++layer) {
    for (size_t head = 0; head < roles.heads[layer].size(); ++head) {
      const RoleShare& share = roles.heads[layer][head].shares[role];
      if (share.tokens == 0) continue;
      all.push_back({{static_cast<int>(layer), static_cast<int>(head)}, &share});
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const RoleHolder& a, const RoleHolder& b) {
    return *a.share->share() > *b.share->share();
  });
  return all;
}

std::string holders_cell(const std::vector<RoleHolder>& ranked, int64_t min_tokens) {
  if (ranked.empty() || ranked[0].share->tokens < min_tokens) return "too little data";
  std::string cell;
  size_t count = 0;
  for (const RoleHolder& one : ranked) {
    if (!one.share->holds) continue;
    if (count < kMostHolders) {
      cell += fmt::format("{}{}.{}", cell.empty() ? "" : " ", one.name.layer, one.name.head);
    }
    ++count;
  }
  if (count > kMostHolders) cell += fmt::format(" +{}", count - kMostHolders);
  return cell.empty() ? "none" : cell;
}

std::string percent(int64_t hits, int64_t all) {
  return all == 0 ? "–"
                  : fmt::format("{:.0f} %",
                                100.0 * static_cast<double>(hits) / static_cast<double>(all));
}

}  // namespace

std::string direction_name(ArcDirection direction) {
  return direction == ArcDirection::kDependentToHead ? "dependent-to-head" : "head-to-dependent";
}

std::string role_mark(const HeadRoles& roles, const HeadRole& head) {
  return head.role < 0 ? "·" : roles.roles[head.role].mark;
}

double role_share(const HeadRole& head) {
  return head.role < 0 ? 0 : head.shares[head.role].share().value_or(0);
}

std::string roles_sentence(const HeadRoles& roles) {
  const HeadRolesRequest& settings = roles.settings;
  return fmt::format(
      "A role holds where {:.0f} % of tokens attend to its target most, more than relabelled "
      "tokens would (p ≤ {:g} over all heads and roles, {} relabellings).",
      100 * settings.share, settings.level, settings.permutations);
}

ReportTable roles_table(const HeadRoles& roles) {
  ReportTable table{.title = "Roles",
                    .head = {"role", "heads", "highest", "share", "chance", "p", "tokens"},
                    .names = 2};
  table.explained = roles_sentence(roles) + " Heads are named layer.head.";
  for (size_t role = 0; role < roles.roles.size(); ++role) {
    const std::vector<RoleHolder> ranked = ranked_holders(roles, role);
    std::vector<std::string> row{roles.roles[role].name,
                                 holders_cell(ranked, roles.settings.min_tokens)};
    if (ranked.empty()) {
      row.insert(row.end(), {"–", "–", "–", "–", "0"});
    } else {
      const RoleShare& best = *ranked[0].share;
      row.push_back(fmt::format("{}.{}", ranked[0].name.layer, ranked[0].name.head));
      row.push_back(percent(best.hits, best.tokens));
      row.push_back(best.chance ? fmt::format("{:.0f} %", 100 * *best.chance) : "–");
      row.push_back(best.p ? format_p(*best.p) : "–");
      row.push_back(fmt::format("{}", best.tokens));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

ReportTable arcs_table(const HeadSyntax& syntax, const HeadRolesRequest& settings) {
  ReportTable table{.title = "Dependency arcs",
                    .head = {"relation", "verdict", "arcs", "head", "found", "by offset", "offset",
                             "p", "direction"}};
  table.names = 2;
  table.explained =
      "Found: arcs for which the head's strongest attention between words goes along the arc. By "
      "offset: arcs that the most common distance finds. p: corrected for the number of heads and "
      "directions.";
  for (const RelationArcs& one : syntax.relations) {
    const bool enough = one.arcs >= settings.min_tokens;
    table.rows.push_back(
        {one.relation,
         !enough     ? "too few arcs"
         : one.holds ? "found"
                     : "not found",
         fmt::format("{}", one.arcs), fmt::format("{}.{}", one.best.layer, one.best.head),
         percent(one.best.hits, one.arcs), percent(one.offset_hits, one.arcs),
         fmt::format("{:+}", one.offset), enough ? format_p(one.p) : "–",
         one.best.direction == ArcDirection::kDependentToHead ? "to head" : "to dependent"});
  }
  return table;
}

}  // namespace whyformer::report
