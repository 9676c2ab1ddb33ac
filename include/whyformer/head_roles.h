// What each attention head does over a corpus: looks at the token before, at equal words, at
// separators, broadly, or along the arcs of dependency trees.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace whyformer {

struct HeadRolesRequest {
  double share = 0.5;      // of tokens for which a role has to hold
  int permutations = 200;  // relabellings behind the chance levels
  double level = 0.05;     // significance level over all heads and roles together
  int64_t seed = 0;
  int64_t min_tokens = 30;  // that a role, or a relation, is judged on
};

struct RoleInfo {
  std::string name;  // "previous-token"
  std::string mark;  // of at most six letters, for the cells of a grid
  std::string summary;
  std::string paper;
};

// Every role, in the order they are listed to people.
std::span<const RoleInfo> head_roles();

// How far one role holds for one head.
struct RoleShare {
  int64_t hits = 0;
  int64_t tokens = 0;                 // that could play the role
  std::optional<double> chance = {};  // the mean share over relabellings; none: there is no chance
  std::optional<double> deviation = {};  // of the share over relabellings
  std::optional<double> p = {};          // that any head and role would stand out as much by chance
  bool holds = false;

  // Nothing where no token could play the role.
  std::optional<double> share() const {
    if (tokens == 0) return std::nullopt;
    return static_cast<double>(hits) / static_cast<double>(tokens);
  }
};

struct HeadRole {
  int role = -1;  // of HeadRoles::roles; the one that holds most above chance; -1: none
  std::vector<RoleShare> shares = {};  // one per role
};

// Who attends to whom along an arc.
enum class ArcDirection {
  kDependentToHead,  // among the words that the dependent attends to, its head comes first
  kHeadToDependent   // among the words that attend to the dependent, its head comes first
};

struct BestArcs {
  ArcDirection direction = ArcDirection::kDependentToHead;
  int layer = 0, head = 0;
  int64_t hits = 0;
};

// Arcs of one relation, and which heads find them.
struct RelationArcs {
  std::string relation;  // "all" for all of them
  int64_t arcs = 0;
  int64_t offset = 0;  // head minus dependent, in words: the most common one
  int64_t offset_hits = 0;
  // Arcs found, [layer][head].
  std::vector<std::vector<int64_t>> dependent_to_head = {}, head_to_dependent = {};
  BestArcs best = {};
  double p = 1;        // of so many hits where each succeeds as often as the offset; corrected for
                       // the number of heads and directions
  bool holds = false;  // better than the offset
};

struct HeadSyntax {
  int64_t sentences = 0;
  int64_t arcs = 0;
  int64_t arcs_left_out = 0;                 // a word of theirs has no tokens of its own
  std::vector<RelationArcs> relations = {};  // all arcs together, then the most common first
};

struct HeadRoles {
  HeadRolesRequest settings;                      // as they were used
  std::vector<RoleInfo> roles = {};               // that make sense for the inputs
  std::vector<std::vector<HeadRole>> heads = {};  // [layer][head]
  std::optional<HeadSyntax> syntax = {};          // where dependency trees were given
};

}  // namespace whyformer
