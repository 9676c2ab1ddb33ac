#include "studies/heads/roles/role_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/random.h"

namespace whyformer {
namespace {

constexpr int64_t kRoleTexts = 40;

// "[CLS] a b c a … [SEP]", words drawn from a few letters, "z" at most once in all texts.
UnitFacts text_facts(int64_t number, WordCounts* counts = nullptr) {
  const CounterRandom random(7, "text of roles", number);
  const int64_t units = 9 + number % 4;
  UnitFacts facts{.special = std::vector<bool>(units, false), .in_sequence = true};
  facts.special.front() = facts.special.back() = true;
  for (int64_t unit = 0; unit < units; ++unit) {
    const bool special = facts.special[unit];
    facts.word.push_back(special ? -1 : unit);
    const auto letter = static_cast<char>('a' + static_cast<int>(random.uniform(unit) * 4));
    facts.spelling.push_back(special ? "" : std::string(1, letter));
  }
  facts.spelling[2 + number % 5] = "z" + std::to_string(number);
  if (counts != nullptr) counts->add(facts);
  return facts;
}

using WantedKey = std::function<int64_t(const UnitFacts&, int64_t query)>;

// A map whose queries give 0.9 to their target, or the same to every key where there is none.
Tensor wired_map(const UnitFacts& facts, const std::vector<WantedKey>& heads) {
  const int64_t units = facts.units();
  Tensor map = Tensor::zeros({static_cast<int64_t>(heads.size()), units, units}, DType::kFloat64);
  double* weights = map.mutable_data<double>();
  for (const WantedKey& head : heads) {
    for (int64_t query = 0; query < units; ++query, weights += units) {
      const int64_t target = head(facts, query);
      std::fill_n(
          weights, units,
          target < 0 ? 1.0 / static_cast<double>(units) : 0.1 / static_cast<double>(units - 1));
      if (target >= 0) weights[target] = 0.9;
    }
  }
  return map;
}

int64_t same_or_self(const UnitFacts& facts, int64_t query) {
  for (int64_t key = 0; key < facts.units(); ++key) {
    if (key != query && !facts.special[key] && facts.spelling[key] == facts.spelling[query])
      return key;
  }
  return query;
}

int64_t rare(const UnitFacts& facts, int64_t) {
  for (int64_t key = 0; key < facts.units(); ++key) {
    if (facts.spelling[key].starts_with("z")) return key;
  }
  return 0;
}

WantedKey offset(int64_t by) {
  return [by](const UnitFacts& facts, int64_t query) {
    return std::clamp<int64_t>(query + by, 0, facts.units() - 1);
  };
}

HeadRoles roles_of(const std::vector<WantedKey>& heads, HeadRolesRequest request = {},
                   int64_t texts = kRoleTexts) {
  WordCounts counts;
  for (int64_t number = 0; number < texts; ++number) text_facts(number, &counts);
  RoleCounts roles(request);
  for (int64_t number = 0; number < texts; ++number) {
    UnitFacts facts = text_facts(number);
    counts.count_words(facts);
    roles.add(facts, {wired_map(facts, heads)});
  }
  return roles.roles();
}

std::string role_named(const HeadRoles& roles, size_t head) {
  const int role = roles.heads[0][head].role;
  return role < 0 ? "none" : roles.roles[role].name;
}

const RoleShare& share_named(const HeadRoles& roles, size_t head, const std::string& name) {
  for (size_t role = 0; role < roles.roles.size(); ++role) {
    if (roles.roles[role].name == name) return roles.heads[0][head].shares[role];
  }
  throw std::out_of_range(name);
}

TEST(HeadRoles, HeadsWiredByHandAreNamedRightly) {
  const HeadRoles roles =
      roles_of({offset(-1), offset(1), offset(-2), offset(2), offset(0),
                [](const UnitFacts&, int64_t) { return 0; },
                [](const UnitFacts& facts, int64_t) { return facts.units() - 1; }, same_or_self,
                rare, [](const UnitFacts&, int64_t) { return -1; }});
  const std::vector<std::string> expected{"previous-token", "next-token",  "two-back", "two-ahead",
                                          "self",           "first-token", "separator"};
  for (size_t head = 0; head < expected.size(); ++head) {
    EXPECT_EQ(role_named(roles, head), expected[head]);
    EXPECT_GT(*share_named(roles, head, expected[head]).share(), 0.99) << expected[head];
  }
  EXPECT_EQ(role_named(roles, 7), "same-word");
  EXPECT_EQ(*share_named(roles, 7, "same-word").share(), 1);
  EXPECT_EQ(role_named(roles, 8), "rare-word");
}

TEST(HeadRoles, AUniformHeadIsBroadAndNothingElse) {
  const HeadRoles roles = roles_of({[](const UnitFacts&, int64_t) { return -1; }, offset(-1)});
  EXPECT_EQ(role_named(roles, 0), "broad");
  for (size_t role = 0; role < roles.roles.size(); ++role) {
    const RoleShare& share = roles.heads[0][0].shares[role];
    EXPECT_EQ(share.holds, roles.roles[role].name == "broad") << roles.roles[role].name;
    if (roles.roles[role].name != "broad") {
      EXPECT_EQ(share.hits, 0) << "no key comes first";
    }
  }
  EXPECT_EQ(share_named(roles, 1, "broad").hits, 0);
}

TEST(HeadRoles, AHeadThatAttendsAtRandomHasNoRole) {
  int64_t draw = 0;
  const WantedKey random = [&draw](const UnitFacts& facts, int64_t) {
    const double uniform = CounterRandom(3, "random head", 0).uniform(draw++);
    return static_cast<int64_t>(uniform * static_cast<double>(facts.units()));
  };
  // A share of 1 % alone would let many roles hold: chance does not.
  const HeadRoles roles = roles_of({random, random, random, random}, {.share = 0.01});
  for (size_t head = 0; head < 4; ++head) EXPECT_EQ(role_named(roles, head), "none");
}

// A relabelling puts every token in the place of the key with the same probability.
TEST(HeadRoles, ChanceLevelsAreTheMeanShareOfRightKeys) {
  const HeadRoles roles = roles_of({offset(-1)}, {.permutations = 4000});
  double one_key = 0, tokens = 0, same = 0, with_same = 0;
  for (int64_t number = 0; number < kRoleTexts; ++number) {
    const UnitFacts facts = text_facts(number);
    const int64_t units = facts.units();
    for (int64_t query = 1; query + 1 < units; ++query) {
      int64_t others = 0;
      for (int64_t key = 1; key + 1 < units; ++key) {
        others += key != query && facts.spelling[key] == facts.spelling[query];
      }
      one_key += 1 / static_cast<double>(units);
      same += static_cast<double>(others) / static_cast<double>(units);
      tokens += 1;
      with_same += others > 0;
    }
  }
  const auto expect_chance = [&](const std::string& role, double expected) {
    const RoleShare& share = share_named(roles, 0, role);
    EXPECT_NEAR(*share.chance, expected, 5 * *share.deviation / std::sqrt(4000.0)) << role;
  };
  expect_chance("previous-token", one_key / tokens);
  expect_chance("next-token", one_key / tokens);
  expect_chance("first-token", one_key / tokens);
  expect_chance("self", one_key / tokens);
  expect_chance("same-word", same / with_same);
  EXPECT_LT(*share_named(roles, 0, "previous-token").p, 1.0 / 1000);
  EXPECT_EQ(share_named(roles, 0, "next-token").p, 1);
}

TEST(HeadRoles, OfTooFewTokensNothingIsJudged) {
  const HeadRoles roles = roles_of({offset(-1)}, {}, 2);
  EXPECT_EQ(role_named(roles, 0), "none");
  const RoleShare& share = share_named(roles, 0, "previous-token");
  EXPECT_EQ(share.hits, share.tokens);
  EXPECT_LT(share.tokens, 30);
  EXPECT_FALSE(share.p);
}

TEST(HeadRoles, DependOnTheSeedAlone) {
  const auto chances = [](int64_t seed) {
    const HeadRoles roles = roles_of({offset(-1)}, {.seed = seed});
    return *share_named(roles, 0, "same-word").chance;
  };
  EXPECT_EQ(chances(1), chances(1));
  EXPECT_NE(chances(1), chances(2));
}

// A class token in front of 4 × 4 patches.
UnitFacts patch_facts() {
  UnitFacts facts{.special = std::vector<bool>(17, false)};
  facts.special[0] = true;
  facts.places.resize(17);
  for (int64_t patch = 0; patch < 16; ++patch) facts.places[1 + patch] = {patch / 4, patch % 4};
  return facts;
}

TEST(HeadRoles, NeighboursOfPatchesAreFoundOnTheirGrid) {
  const auto to = [](int64_t down, int64_t right) -> WantedKey {
    return [down, right](const UnitFacts& facts, int64_t query) -> int64_t {
      const auto& from = facts.places[query];
      if (!from) return 0;
      const int64_t row = from->row + down, column = from->column + right;
      const bool inside = row >= 0 && row < 4 && column >= 0 && column < 4;
      return inside ? 1 + row * 4 + column : 0;
    };
  };
  const WantedKey same_row = [](const UnitFacts& facts, int64_t query) -> int64_t {
    const auto& from = facts.places[query];
    return from ? 1 + from->row * 4 + (from->column + 2) % 4 : 0;
  };
  const WantedKey same_column = [](const UnitFacts& facts, int64_t query) -> int64_t {
    const auto& from = facts.places[query];
    return from ? 1 + (from->row + 2) % 4 * 4 + from->column : 0;
  };
  const UnitFacts facts = patch_facts();
  const Tensor map =
      wired_map(facts, {to(0, -1), to(0, 1), to(-1, 0), to(1, 0), same_row, same_column,
                        [](const UnitFacts&, int64_t) { return 0; }, offset(0)});
  RoleCounts counts({});
  for (int picture = 0; picture < 10; ++picture) counts.add(facts, {map});
  const HeadRoles roles = counts.roles();
  const std::vector<std::string> expected{"left",     "right",       "above",       "below",
                                          "same-row", "same-column", "class-token", "self"};
  for (size_t head = 0; head < expected.size(); ++head) {
    EXPECT_EQ(role_named(roles, head), expected[head]);
  }
  EXPECT_EQ(share_named(roles, 0, "left").tokens, 120) << "those of the first column have none";
}

}  // namespace
}  // namespace whyformer
