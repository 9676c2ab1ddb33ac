// Roles of heads that attend to one place whatever stands there.
#include <algorithm>

#include "studies/heads/roles/role.h"

namespace whyformer {
namespace {

constexpr const char* kClarkRoles = "Clark et al., BlackboxNLP 2019";

bool has_special(const UnitFacts& facts) {
  return std::find(facts.special.begin(), facts.special.end(), true) != facts.special.end();
}

bool is_special(const UnitFacts& facts, int64_t, int64_t key) { return facts.special[key]; }

}  // namespace

const RoleEntry kFirstToken{{"first-token", "first", "the first token", kClarkRoles},
                            [](const UnitFacts& facts) { return facts.in_sequence; },
                            [](const UnitFacts&, int64_t, int64_t key) { return key == 0; }};
const RoleEntry kSeparator{
    {"separator", "sep", "a special token behind the first, such as [SEP]", kClarkRoles},
    [](const UnitFacts& facts) { return facts.in_sequence && has_special(facts); },
    [](const UnitFacts& facts, int64_t, int64_t key) { return key > 0 && facts.special[key]; }};
const RoleEntry kClassToken{
    {"class-token", "class", "a class token, or another special one", kClarkRoles},
    [](const UnitFacts& facts) { return !facts.in_sequence && has_special(facts); },
    &is_special};

}  // namespace whyformer
