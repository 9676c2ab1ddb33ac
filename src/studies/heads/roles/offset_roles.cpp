// Roles of heads that attend at a fixed distance.
#include "studies/heads/roles/role.h"

namespace whyformer {
namespace {

constexpr const char* kVoitaRoles = "Voita et al., ACL 2019";

bool in_sequence(const UnitFacts& facts) { return facts.in_sequence; }

template <int64_t kOffset>
bool at_offset(const UnitFacts&, int64_t query, int64_t key) {
  return key == query + kOffset;
}

}  // namespace

const RoleEntry kSelfRole{{"self", "self", "the token itself", "Clark et al., BlackboxNLP 2019"},
                          [](const UnitFacts&) { return true; },
                          &at_offset<0>};
const RoleEntry kPreviousToken{
    {"previous-token", "prev", "the token before", kVoitaRoles}, &in_sequence, &at_offset<-1>};
const RoleEntry kNextToken{
    {"next-token", "next", "the token behind", kVoitaRoles}, &in_sequence, &at_offset<1>};
const RoleEntry kTwoBack{
    {"two-back", "2 back", "the token two before", kVoitaRoles}, &in_sequence, &at_offset<-2>};
const RoleEntry kTwoAhead{
    {"two-ahead", "2 on", "the token two behind", kVoitaRoles}, &in_sequence, &at_offset<2>};

}  // namespace whyformer
