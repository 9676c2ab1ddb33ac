#include "relevance/policy_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/edit_distance.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

bool is_name(const std::string& pattern) { return pattern.find('*') == std::string::npos; }

std::string in_lower_case(std::string text) {
  for (char& letter : text)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

template <class Names>
std::string nearest_of(const std::string& name, const Names& names) {
  const std::string own = in_lower_case(name);
  std::string best;
  size_t least = std::string::npos;
  for (const auto& other : names) {
    const size_t distance = edit_distance(own, in_lower_case(std::string(other)));
    if (distance < least) best = other, least = distance;
  }
  return best;
}

std::string place_of(const Policy& policy, size_t entry) {
  return fmt::format("{}, rule {}", policy.file, entry + 1);
}

void check_names(const Policy& policy, size_t entry, const std::vector<std::string>& nodes) {
  const PolicyEntry& rule = policy.entries[entry];
  if (is_name(rule.kind) &&
      std::find(kOperatorKinds.begin(), kOperatorKinds.end(), rule.kind) == kOperatorKinds.end()) {
    throw InvalidInput(fmt::format("{}: there is no operator \"{}\"; the nearest is \"{}\"",
                                   place_of(policy, entry), rule.kind.substr(0, 60),
                                   nearest_of(rule.kind, kOperatorKinds)));
  }
  if (is_name(rule.name) && std::find(nodes.begin(), nodes.end(), rule.name) == nodes.end()) {
    throw InvalidInput(fmt::format("{}: this model has no node \"{}\"; the nearest is \"{}\"",
                                   place_of(policy, entry), rule.name.substr(0, 120),
                                   nearest_of(rule.name, nodes)));
  }
}

// Why the rule changes nothing.
std::string reason_of(const PolicyEntry& rule, const Graph& graph) {
  bool moves = false;
  for (const Node& node : graph.nodes()) {
    if (!fits_pattern(rule.kind, node.op->kind()) || !fits_pattern(rule.name, node.name)) continue;
    if (!node.op->moves_data()) return "an earlier rule takes every node that it fits";
    moves = true;
  }
  return moves ? "what it fits only moves values, which no rule changes"
               : "it fits no node of this model";
}

}  // namespace

std::vector<std::string> check_policy(const Policy& policy, const Graph& graph) {
  if (policy.written == 0) return {};
  std::vector<std::string> nodes;
  std::vector<bool> used(policy.entries.size() + 1, false);
  for (const Node& node : graph.nodes()) {
    nodes.push_back(node.name);
    if (!node.op->moves_data()) used[policy.entry_for(node)] = true;
  }
  std::vector<std::string> notes;
  for (size_t entry = 0; entry < policy.written; ++entry) {
    check_names(policy, entry, nodes);
    const PolicyEntry& rule = policy.entries[entry];
    if (used[entry]) continue;
    notes.push_back(fmt::format("{} (operator \"{}\", node \"{}\") changes nothing: {}.",
                                place_of(policy, entry), rule.kind, rule.name,
                                reason_of(rule, graph)));
  }
  return notes;
}

}  // namespace whyformer
