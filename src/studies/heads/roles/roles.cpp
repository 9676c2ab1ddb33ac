#include <array>

#include "studies/heads/roles/role.h"

namespace whyformer {
namespace {

constexpr std::array kRoles{&kPreviousToken, &kNextToken,  &kTwoBack,    &kTwoAhead,   &kSelfRole,
                            &kFirstToken,    &kSeparator,  &kClassToken, &kSameWord,   &kRareWord,
                            &kLeftPatch,     &kRightPatch, &kPatchAbove, &kPatchBelow, &kSameRow,
                            &kSameColumn,    &kBroad};

}  // namespace

std::span<const RoleEntry* const> role_entries() { return kRoles; }

std::span<const RoleInfo> head_roles() {
  static const std::vector<RoleInfo> infos = [] {
    std::vector<RoleInfo> list;
    for (const RoleEntry* role : kRoles) list.push_back(role->info);
    return list;
  }();
  return infos;
}

}  // namespace whyformer
