// Roles over whole studies: golden models and what PyTorch says about their maps.
#include "studies/heads/roles/role_study.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/golden_weights.h"
#include "tests/support/heads_test_helpers.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::Contains;
using testing::HasSubstr;

HeadsRequest roles_alone(HeadRolesRequest roles = {}) {
  return {.measures = {}, .precision = Precision::kDouble, .roles = roles};
}

const RoleShare& named_share(const HeadRoles& roles, int layer, int head, const std::string& name) {
  for (size_t role = 0; role < roles.roles.size(); ++role) {
    if (roles.roles[role].name == name) return roles.heads[layer][head].shares[role];
  }
  throw std::out_of_range(name);
}

TEST(RoleStudy, SharesAreThoseOfPyTorchsMaps) {
  const GoldenModel golden("bert");
  const std::vector<bool>& special = golden.input("pair").special[0];
  const size_t tokens = special.size();
  const HeadRoles roles = *heads_of(golden, corpus_of(golden, {"pair"}), roles_alone()).roles;
  for (int layer = 0; layer < 2; ++layer) {
    const std::vector<double> maps = golden.values("pair.attention." + std::to_string(layer));
    for (size_t head = 0; head < roles.heads[layer].size(); ++head) {
      int64_t previous = 0, first = 0, separator = 0, asking = 0, with_previous = 0;
      for (size_t query = 0; query < tokens; ++query) {
        if (special[query]) continue;
        const double* row = maps.data() + (head * tokens + query) * tokens;
        const auto key = static_cast<size_t>(std::max_element(row, row + tokens) - row);
        ++asking;
        with_previous += query > 0;
        previous += key + 1 == query;
        first += key == 0;
        separator += key > 0 && special[key];
      }
      const auto expect = [&](const char* name, int64_t hits, int64_t of) {
        const RoleShare& share = named_share(roles, layer, static_cast<int>(head), name);
        EXPECT_EQ(share.hits, hits) << name << ' ' << layer << '.' << head;
        EXPECT_EQ(share.tokens, of) << name;
      };
      expect("previous-token", previous, with_previous);
      expect("first-token", first, asking);
      expect("separator", separator, asking);
    }
  }
}

TEST(RoleStudy, AModelWithoutQueriesAttendsBroadlyEverywhere) {
  const GoldenModel golden("bert", [](auto& weights) {
    for (auto& [name, values] : weights) {
      if (name.find("query") != std::string::npos) std::fill(values.begin(), values.end(), 0.0f);
    }
  });
  HeadRolesRequest request;
  request.min_tokens = 1;
  const HeadImportance found = heads_of(golden, corpus_of(golden), roles_alone(request));
  for (const auto& layer : found.roles->heads) {
    for (const HeadRole& head : layer) {
      ASSERT_GE(head.role, 0);
      EXPECT_EQ(found.roles->roles[head.role].name, "broad");
    }
  }
}

TEST(RoleStudy, TooLittleDataIsSaidAndCountsOfInputsThatWereStoppedAreKept) {
  const GoldenModel golden("bert");
  HeadsRequest request = roles_alone();
  request.progress = [](int64_t done, int64_t) { return done < 1; };
  const HeadImportance stopped = heads_of(golden, corpus_of(golden), request);
  EXPECT_TRUE(stopped.stopped_early);
  EXPECT_EQ(stopped.examples, 1);
  EXPECT_THAT(stopped.notes, Contains(HasSubstr("Too little data to judge")));
  const HeadImportance alone = heads_of(golden, {corpus_of(golden).front()}, roles_alone());
  for (size_t head = 0; head < alone.roles->heads[0].size(); ++head) {
    EXPECT_EQ(named_share(*stopped.roles, 0, static_cast<int>(head), "self").hits,
              named_share(*alone.roles, 0, static_cast<int>(head), "self").hits);
  }
}

TEST(RoleStudy, RefusesSettingsThatCannotTellAnything) {
  const GoldenModel golden("bert");
  const auto refusal_of = [&](const HeadRolesRequest& request) {
    return message_of<InvalidInput>(
        [&] { heads_of(golden, corpus_of(golden), roles_alone(request)); });
  };
  EXPECT_THAT(refusal_of({.share = 0}), HasSubstr("above 0, at most 1"));
  EXPECT_THAT(refusal_of({.permutations = 5}), HasSubstr("cannot tell a significance level"));
  EXPECT_THAT(refusal_of({.level = 1}), HasSubstr("between 0 and 1"));
}

}  // namespace
}  // namespace whyformer
