// What a role of a head is: a relation between a token and those that it attends to.
#pragma once

#include <span>

#include "studies/heads/roles/unit_facts.h"
#include "whyformer/head_roles.h"

namespace whyformer {

struct RoleEntry {
  RoleInfo info;
  // Whether the role makes sense for inputs of such units.
  bool (*fits)(const UnitFacts& facts);
  // Whether a token plays the role that attends to `key` most. Null for roles that a row of weights
  // shows by itself.
  bool (*holds)(const UnitFacts& facts, int64_t query, int64_t key) = nullptr;
  // The same of a row of weights; nothing where the row is too short to tell.
  std::optional<bool> (*holds_in_row)(std::span<const double> weights) = nullptr;
};

// One line per role; roles.cpp lists them.
extern const RoleEntry kSelfRole;
extern const RoleEntry kPreviousToken;
extern const RoleEntry kNextToken;
extern const RoleEntry kTwoBack;
extern const RoleEntry kTwoAhead;
extern const RoleEntry kFirstToken;
extern const RoleEntry kSeparator;
extern const RoleEntry kClassToken;
extern const RoleEntry kSameWord;
extern const RoleEntry kRareWord;
extern const RoleEntry kLeftPatch;
extern const RoleEntry kRightPatch;
extern const RoleEntry kPatchAbove;
extern const RoleEntry kPatchBelow;
extern const RoleEntry kSameRow;
extern const RoleEntry kSameColumn;
extern const RoleEntry kBroad;

std::span<const RoleEntry* const> role_entries();

}  // namespace whyformer
