// Policies: which relevance rule each node of a graph gets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace whyformer {

// Whether a text fits a pattern in which `*` stands for any characters.
bool fits_pattern(std::string_view pattern, std::string_view text);

// Nodes by operator and by name; both patterns may hold `*`.
struct PolicyEntry {
  std::string kind = "*";
  std::string name = "*";
  Rule rule;
};

struct Policy {
  // What the walk starts with at the explained output.
  enum class Seed { kOne, kOutput };

  std::string name;
  Seed seed = Seed::kOne;
  std::vector<PolicyEntry> entries;  // the first that fits a node counts
  std::string file =
      {};  // where the first `written` entries stand; the others are those of its base
  size_t written = 0;

  // Throws InvalidInput that names the node where no entry fits.
  const Rule& rule_for(const Node& node) const;
  // Which entry that is; as many as there are where none fits.
  size_t entry_for(const Node& node) const;
};

// chefer, lrp-orig, epsilon, … (docs/policies.md). Throws InvalidInput that lists them.
Policy policy_named(std::string_view name);
std::vector<std::string> policy_names();

// A policy as people write it (docs/policies.md). Throws InvalidInput that says where it is wrong.
Policy parse_policy(std::string_view json, std::string_view file_name);

}  // namespace whyformer
