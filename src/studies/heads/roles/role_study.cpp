#include "studies/heads/roles/role_study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/pulse.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int kMostRelabellings = 10'000;

void check_request(const HeadRolesRequest& request) {
  if (!(request.share > 0 && request.share <= 1)) {
    throw InvalidInput(
        fmt::format("minimum share of tokens in a role: {:g}; expected a number above 0, at most 1",
                    request.share));
  }
  if (request.permutations < 1 || request.permutations > kMostRelabellings) {
    throw InvalidInput(fmt::format("{} relabellings for chance levels: expected 1 to {}",
                                   request.permutations, kMostRelabellings));
  }
  if (!(request.level > 0 && request.level < 1)) {
    throw InvalidInput(fmt::format(
        "the significance level is {:g}: expected a number between 0 and 1", request.level));
  }
  if (1.0 / (1 + request.permutations) > request.level) {
    throw InvalidInput(fmt::format(
        "{} relabellings cannot tell a significance level of {:g}: it takes {} at least",
        request.permutations, request.level, static_cast<int>(1 / request.level)));
  }
}

}  // namespace

RoleStudy::RoleStudy(const HeadExamples& examples, const HeadRolesRequest& request)
    : examples_(examples), request_(request), roles_(request) {
  check_request(request);
  for (int64_t example = 0; example < examples.count() && !arcs_; ++example) {
    if (examples.tree(example) != nullptr) arcs_.emplace(request);
  }
}

void RoleStudy::count_words(DType dtype) {
  for (int64_t example = 0; example < examples_.count(); ++example) {
    pulse();
    const UnitFacts facts = unit_facts(examples_.input(example, dtype));
    if (!facts.has_words()) return;
    if (!words_) words_.emplace();
    words_->add(facts);
  }
}

void RoleStudy::add(int64_t example, const Run& run) {
  run.require_one_stream("the role of a head", "its queries and keys are different units");
  UnitFacts facts = unit_facts(run.input());
  if (words_) words_->count_words(facts);
  const HeadMaps maps = maps_of(run);
  roles_.add(facts, maps);
  if (const DependencyTree* tree = examples_.tree(example)) {
    arcs_->add(run.input().parts()[0]->units(), *tree, maps);
  }
}

HeadRoles RoleStudy::roles() const {
  HeadRoles found = roles_.roles();
  if (arcs_) found.syntax = arcs_->syntax();
  return found;
}

std::vector<std::string> RoleStudy::notes() const {
  std::vector<std::string> notes;
  const HeadRoles found = roles();
  std::vector<std::string> scarce;
  for (size_t role = 0; role < found.roles.size(); ++role) {
    int64_t most = 0;
    for (const auto& layer : found.heads) {
      for (const HeadRole& head : layer) most = std::max(most, head.shares[role].tokens);
    }
    if (most < request_.min_tokens) {
      scarce.push_back(fmt::format("{} ({} tokens)", found.roles[role].name, most));
    }
  }
  if (!scarce.empty()) {
    notes.push_back(fmt::format("Too little data to judge {}: it takes {} tokens.",
                                fmt::join(scarce, ", "), request_.min_tokens));
  }
  if (!found.syntax) return notes;
  const HeadSyntax& syntax = *found.syntax;
  if (syntax.arcs_left_out > 0) {
    notes.push_back(fmt::format(
        "{} of {} arcs are left out: a word of theirs has no tokens of its own, because it was cut "
        "off or is written together with others.",
        syntax.arcs_left_out, syntax.arcs + syntax.arcs_left_out));
  }
  const auto few =
      std::count_if(syntax.relations.begin(), syntax.relations.end(),
                    [&](const RelationArcs& one) { return one.arcs < request_.min_tokens; });
  if (few > 0) {
    notes.push_back(fmt::format("{} relation{} fewer than {} arcs: too little data to judge {}.",
                                few, few == 1 ? " has" : "s have", request_.min_tokens,
                                few == 1 ? "it" : "them"));
  }
  return notes;
}

}  // namespace whyformer
