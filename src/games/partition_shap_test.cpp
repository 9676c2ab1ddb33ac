#include <gmock/gmock.h>

#include <map>

#include "tests/support/brute_force.h"
#include "tests/support/near.h"
#include "tests/support/table_game.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr SiblingContext kContexts[] = {SiblingContext::kBoth, SiblingContext::kHidden,
                                        SiblingContext::kVisible};

SiblingContext context_of(const std::string& name) {
  return std::map<std::string, SiblingContext>{{"both", SiblingContext::kBoth},
                                               {"hidden", SiblingContext::kHidden},
                                               {"visible", SiblingContext::kVisible}}
      .at(name);
}

TEST(PartitionShap, EqualsShapWithAnyBudget) {
  for (const auto& expected : golden_games("partition")) {
    TableGame game = golden_table(expected["game"]);
    const PartitionValues values = partition_shap(game, golden_tree(expected["tree"]),
                                                  {.context = context_of(expected["context"]),
                                                   .max_evals = expected["max_evals"],
                                                   .batch_size = expected["batch_size"],
                                                   .seed = expected["seed"]});
    EXPECT_THAT(values.values, near(expected["values"], 1e-12)) << expected;
    EXPECT_THAT(values.hierarchical, near(expected["hierarchical"], 1e-12)) << expected;
    EXPECT_THAT(values.base, near(expected["base"], 1e-12));
    EXPECT_EQ(values.evaluations, expected["evaluations"]) << expected;
    EXPECT_EQ(values.evaluations, game.asked);
  }
}

TEST(PartitionShap, AddsUpWithAnyBudget) {
  for (const SiblingContext context : kContexts) {
    for (int64_t budget = 2; budget < 60; ++budget) {
      TableGame game({.players = 9, .outputs = 2, .table_seed = 31});
      const PartitionValues values =
          partition_shap(game, random_tree(9, 32), {.context = context, .max_evals = budget});
      EXPECT_THAT(additivity_gaps(values), near({0, 0}, 1e-12));
      // Coalitions come in pairs, so an odd budget is overrun by one.
      EXPECT_LE(values.evaluations, budget + budget % 2);
    }
  }
}

TEST(PartitionShap, WithBothContextsIsTheMeanOverContexts) {
  TableGame game({.players = 8, .outputs = 2, .table_seed = 33});
  const PlayerTree tree = random_tree(8, 34);
  const PartitionValues values = partition_shap(game, tree, {.max_evals = 1000});
  EXPECT_TRUE(values.finished);
  EXPECT_THAT(values.values, near(owen_by_contexts(game, tree), 1e-12));
}

// What shap's recursion asks about group by group, the closed form asks about in one go.
TEST(PartitionShap, WithAFixedContextIsHierarchicalLeaveOneOut) {
  TableGame game({.players = 7, .table_seed = 35});
  const PlayerTree tree = random_tree(7, 36);
  for (const bool visible : {false, true}) {
    const auto worth_of = [&](int64_t node) {
      Coalition without(7, visible), ends(7, visible);
      for (const int64_t player : players_below(tree, 7, node)) without[player] = !visible;
      const double difference = worth(game, ends)[0] - worth(game, without)[0];
      return visible ? difference : -difference;
    };
    std::vector<double> expected(7);
    for (int64_t player = 0; player < 7; ++player) expected[player] = worth_of(player);
    for (int64_t merge = 0; merge < 6; ++merge) {
      const auto [left, right] = tree.merges[merge];
      const std::vector<int64_t> below = players_below(tree, 7, 7 + merge);
      for (const int64_t player : below) {
        expected[player] += (worth_of(7 + merge) - worth_of(left) - worth_of(right)) /
                            static_cast<double>(below.size());
      }
    }
    const SiblingContext context = visible ? SiblingContext::kVisible : SiblingContext::kHidden;
    game.largest_batch = 0;
    const PartitionValues values = partition_shap(game, tree, {.context = context});
    EXPECT_THAT(values.values, near(expected, 1e-12));
    EXPECT_EQ(values.evaluations, 14);
    EXPECT_EQ(game.largest_batch, 12);
    EXPECT_TRUE(values.finished);
  }
}

TEST(PartitionShap, OfAReversedGameSwapsHiddenAndVisible) {
  for (const int64_t budget : {11, 500}) {
    TableGame game({.players = 8, .table_seed = 37}), reversed = game;
    for (int64_t members = 0; members < 256; ++members)
      reversed.table()[members] = -game.table()[255 - members];
    const PlayerTree tree = random_tree(8, 38);
    const auto values = [&](Game& of, SiblingContext context) {
      return partition_shap(of, tree, {.context = context, .max_evals = budget}).values;
    };
    EXPECT_THAT(values(reversed, SiblingContext::kHidden),
                near(values(game, SiblingContext::kVisible), 1e-12));
    EXPECT_THAT(values(reversed, SiblingContext::kVisible),
                near(values(game, SiblingContext::kHidden), 1e-12));
  }
}

TEST(PartitionShap, OfAnAdditiveGameIsWhatEachPlayerAdds) {
  const std::vector<double> adds = {0.5, -1, 2, 0, 3.25};
  std::vector<double> table(32, 0.125);
  for (int64_t members = 0; members < 32; ++members) {
    for (int64_t i = 0; i < 5; ++i) table[members] += members >> i & 1 ? adds[i] : 0;
  }
  TableGame game(5, table);
  const PlayerTree tree = random_tree(5, 39);
  for (const SiblingContext context : kContexts) {
    EXPECT_THAT(partition_shap(game, tree, {.context = context}).values, near(adds, 1e-12));
  }
  EXPECT_THAT(exact_shap(game).values, near(adds, 1e-12));
  EXPECT_THAT(exact_shap(game, {.tree = tree}).values, near(adds, 1e-12));
  EXPECT_THAT(permutation_shap(game, {.max_evals = 11}).values, near(adds, 1e-12));
  EXPECT_THAT(sampling_shap(game, {.samples = 10}).values, near(adds, 1e-12));
}

TEST(PartitionShap, OfTwoPlayersWithBothContextsIsShapley) {
  TableGame game({.players = 2, .outputs = 3, .table_seed = 40});
  EXPECT_THAT(partition_shap(game, {{{0, 1}}}).values, near(shapley_by_orders(game), 1e-12));
}

TEST(PartitionShap, GivesDummiesNothingWithBothContexts) {
  TableGame game({.players = 6, .table_seed = 41, .still = {2, 5}});
  const std::vector<double> values =
      partition_shap(game, random_tree(6, 42), {.max_evals = 1000}).values;
  EXPECT_NEAR(values[2], 0, 1e-14);
  EXPECT_NEAR(values[5], 0, 1e-14);
}

// What first word and [CLS] differ by is the first word's leave-one-out where they are siblings.
TEST(PartitionShap, SiblingsDifferByWhatLeavingThemOutChanges) {
  TableGame game({.players = 4, .table_seed = 43, .still = {0}});
  const std::vector<double> values =
      partition_shap(game, {{{0, 1}, {2, 3}, {4, 5}}}, {.context = SiblingContext::kVisible})
          .values;
  const double left_out =
      worth(game, {true, true, true, true})[0] - worth(game, {true, false, true, true})[0];
  EXPECT_NEAR(values[1] - values[0], left_out, 1e-12);
}

TEST(PartitionShap, OfOnePlayerOrNobodyNeedsNoTree) {
  for (const SiblingContext context : kContexts) {
    TableGame one(1, {0.25, 2});
    const PartitionValues values = partition_shap(one, {}, {.context = context});
    EXPECT_THAT(values.values, near({1.75}, 0));
    EXPECT_EQ(values.hierarchical, values.values);
    EXPECT_TRUE(values.finished);
    TableGame nobody(0, {0.25});
    EXPECT_TRUE(partition_shap(nobody, {}, {.context = context}).values.empty());
  }
}

TEST(PartitionShap, DoesNotDependOnHowManyCoalitionsTheGameTakes) {
  for (const SiblingContext context : kContexts) {
    for (const int64_t budget : {13, 14, 500}) {
      TableGame game({.players = 9, .outputs = 2, .table_seed = 44});
      const auto run = [&](int64_t at_once) {
        game.at_once = at_once;
        game.largest_batch = 0;
        return partition_shap(game, random_tree(9, 45), {.context = context, .max_evals = budget});
      };
      const PartitionValues expected = run(1000);
      for (const int64_t at_once : {1, 2, 3, 7}) {
        const PartitionValues values = run(at_once);
        EXPECT_EQ(values.hierarchical, expected.hierarchical);
        EXPECT_EQ(values.evaluations, expected.evaluations);
        EXPECT_LE(game.largest_batch, at_once);
      }
    }
  }
}

TEST(PartitionShap, StillAddsUpWhereTheWatchEndsIt) {
  for (const SiblingContext context : kContexts) {
    for (int64_t calls = 1; calls < 14; ++calls) {
      TableGame game({.players = 9, .outputs = 2, .table_seed = 46});
      game.at_once = 3;
      const PartitionValues values =
          partition_shap(game, random_tree(9, 47), {.context = context}, ends_after(calls));
      EXPECT_EQ(values.evaluations, game.asked);
      EXPECT_THAT(additivity_gaps(values), near({0, 0}, 1e-12));
      const bool complete = context != SiblingContext::kBoth && values.evaluations == 18;
      EXPECT_EQ(values.finished, complete) << calls;
    }
  }
  TableGame game({.players = 9, .table_seed = 46});
  game.at_once = 1;
  EXPECT_THROW(partition_shap(game, random_tree(9, 47), {}, ends_after(1)), Interrupted);
}

TEST(PartitionShap, SaysWhatIsWrongWithItsOptions) {
  TableGame game({.players = 3, .table_seed = 48});
  const PlayerTree tree = {{{0, 1}, {3, 2}}};
  EXPECT_THAT([&] { partition_shap(game, tree, {.max_evals = 1}); },
              ThrowsMessage<InvalidInput>(HasSubstr("at least 2 evaluations but max-evals is 1")));
  EXPECT_THROW(partition_shap(game, tree, {.batch_size = 0}), InvalidInput);
  EXPECT_THROW(partition_shap(game, {{{0, 1}}}), InvalidInput);
}

}  // namespace
}  // namespace whyformer
