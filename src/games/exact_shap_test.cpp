#include <gmock/gmock.h>

#include "tests/support/brute_force.h"
#include "tests/support/near.h"
#include "tests/support/table_game.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

TEST(ExactShap, EqualsShap) {
  for (const auto& expected : golden_games("exact")) {
    TableGame game = golden_table(expected["game"]);
    ExactOptions options;
    if (expected.contains("tree")) options.tree = golden_tree(expected["tree"]);
    const GameValues values = exact_shap(game, options);
    EXPECT_THAT(values.values, near(expected["values"], 1e-12)) << expected["game"];
    EXPECT_THAT(values.base, near(expected["base"], 1e-12));
    EXPECT_TRUE(values.finished);
    EXPECT_TRUE(values.errors.empty());
    EXPECT_EQ(values.evaluations, game.asked);
  }
}

TEST(ExactShap, IsTheMeanOverAllOrders) {
  for (int64_t players = 1; players <= 6; ++players) {
    TableGame game({.players = players, .outputs = 2, .table_seed = 11});
    EXPECT_THAT(exact_shap(game).values, near(shapley_by_orders(game), 1e-12));
  }
}

TEST(ExactShap, OnATreeIsTheMeanOverContexts) {
  for (int64_t players = 1; players <= 7; ++players) {
    TableGame game({.players = players, .outputs = 2, .table_seed = 12});
    const PlayerTree tree = random_tree(players, 13);
    const GameValues values = exact_shap(game, {.tree = tree});
    EXPECT_THAT(values.values, near(owen_by_contexts(game, tree), 1e-12));
    EXPECT_TRUE(values.finished);
  }
}

TEST(ExactShap, GivesEqualPlayersEqualValuesAndDummiesNothing) {
  TableGame game({.players = 5, .table_seed = 14});
  for (int64_t members = 0; members < 32; ++members) {
    // Players 0 and 1 count as one, whichever it is; player 4 does nothing.
    const bool one_of_them = members & 3;
    game.table()[members] = game.table()[(members & 12) + one_of_them];
  }
  const std::vector<double> values = exact_shap(game).values;
  EXPECT_NEAR(values[0], values[1], 1e-14);
  EXPECT_NEAR(values[4], 0, 1e-14);
  EXPECT_GT(std::abs(values[2]), 1e-3);
  EXPECT_NEAR(exact_shap(game, {.tree = random_tree(5, 3)}).values[4], 0, 1e-14);
}

TEST(ExactShap, OfASumOfGamesIsTheSumOfTheirs) {
  TableGame one({.players = 6, .table_seed = 15}), other({.players = 6, .table_seed = 16});
  TableGame sum = one;
  for (size_t i = 0; i < sum.table().size(); ++i) sum.table()[i] += other.table()[i];
  std::vector<double> sums = exact_shap(one).values;
  const std::vector<double> others = exact_shap(other).values;
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += others[i];
  EXPECT_THAT(exact_shap(sum).values, near(sums, 1e-12));
}

TEST(ExactShap, AsksOnlyAboutPlayersThatVary) {
  TableGame game({.players = 6, .table_seed = 17, .still = {0, 5}});
  const GameValues values = exact_shap(game);
  EXPECT_EQ(values.evaluations, 16);
  EXPECT_EQ(values.values[0], 0);
  EXPECT_EQ(values.values[5], 0);
}

TEST(ExactShap, OfNobodyIsEmpty) {
  TableGame game(0, {0.5});
  for (const ExactOptions& options : {ExactOptions{}, ExactOptions{.tree = PlayerTree{}}}) {
    const GameValues values = exact_shap(game, options);
    EXPECT_TRUE(values.values.empty());
    EXPECT_EQ(values.base[0], 0.5);
    EXPECT_EQ(values.full[0], 0.5);
  }
}

TEST(ExactShap, RefusesMoreThanItMayAskFor) {
  TableGame game({.players = 10, .table_seed = 18});
  EXPECT_NO_THROW(exact_shap(game, {.max_evals = 1024}));
  EXPECT_THAT([&] { exact_shap(game, {.max_evals = 1023}); },
              ThrowsMessage<InvalidInput>(
                  AllOf(HasSubstr("10 players need 2^10 coalitions but max-evals is 1023"),
                        HasSubstr("or raise max-evals"))));
  TableGame many(26, {});  // nothing is asked of it
  EXPECT_THAT(
      [&] { exact_shap(many, {}); },
      ThrowsMessage<InvalidInput>(AllOf(HasSubstr("need 2^26 coalitions"), HasSubstr("kernel-shap"),
                                        Not(HasSubstr("raise")))));
  PlayerTree chain;
  for (int64_t i = 0; i < 9; ++i) chain.merges.push_back({i == 0 ? 0 : 9 + i, i + 1});
  EXPECT_NO_THROW(exact_shap(game, {.max_evals = 1024, .tree = chain}));
  EXPECT_THAT([&] { exact_shap(game, {.max_evals = 1023, .tree = chain}); },
              ThrowsMessage<InvalidInput>(HasSubstr("need 1024 coalitions but max-evals is 1023")));
}

TEST(ExactShap, DoesNotDependOnBatchesAndTellsTheWatch) {
  TableGame game({.players = 7, .outputs = 2, .table_seed = 19});
  const GameValues expected = exact_shap(game);
  for (const int64_t at_once : {1, 3, 50, 1000}) {
    game.at_once = at_once;
    game.largest_batch = 0;
    int64_t last = 0;
    const GameValues values = exact_shap(game, {}, [&](int64_t evaluations, int64_t of) {
      EXPECT_EQ(of, 128);
      EXPECT_GT(evaluations, last);
      last = evaluations;
      return evaluations < of;  // ending with the last batch ends nothing
    });
    EXPECT_EQ(values.values, expected.values);
    EXPECT_EQ(last, 128);
    EXPECT_EQ(game.largest_batch, std::min<int64_t>(at_once, 128));
  }
}

TEST(ExactShap, HasNothingToGiveWhereTheWatchEndsIt) {
  TableGame game({.players = 7, .table_seed = 20});
  game.at_once = 16;
  EXPECT_THROW(exact_shap(game, {}, ends_after(3)), Interrupted);
  EXPECT_THROW(exact_shap(game, {.tree = random_tree(7, 1)}, ends_after(2)), Interrupted);
}

}  // namespace
}  // namespace whyformer
