#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <set>

#include "games/tree_order.h"
#include "tests/support/brute_force.h"
#include "tests/support/near.h"
#include "tests/support/table_game.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::ThrowsMessage;

TEST(PermutationShap, EqualsShap) {
  for (const auto& expected : golden_games("permutation")) {
    TableGame game = golden_table(expected["game"]);
    const GameValues values =
        permutation_shap(game, {.max_evals = expected["max_evals"], .seed = expected["seed"]});
    EXPECT_THAT(values.values, near(expected["values"], 1e-12)) << expected;
    EXPECT_THAT(values.base, near(expected["base"], 1e-12));
    EXPECT_EQ(values.evaluations, game.asked);
    EXPECT_LE(values.evaluations, expected["max_evals"]);
    EXPECT_TRUE(values.finished);
  }
}

// v(S) = sum of a_i + sum of b_ij: one order and its reverse are enough.
TEST(PermutationShap, IsExactForGamesOfPairs) {
  NumpyRandom random(51);
  std::vector<double> pair(36);
  for (double& number : pair) number = random.normal();
  std::vector<double> table(64);
  for (int64_t members = 0; members < 64; ++members) {
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t j = i; j < 6; ++j)
        table[members] += (members >> i & 1) && (members >> j & 1) ? pair[i * 6 + j] : 0;
    }
  }
  TableGame game(6, table);
  const GameValues values = permutation_shap(game, {.max_evals = 13, .seed = 52});
  EXPECT_EQ(values.evaluations, 13);
  EXPECT_THAT(values.values, near(shapley_by_orders(game), 1e-12));
  EXPECT_THAT(
      values.errors,
      Each(std::numeric_limits<double>::infinity()));  // one sample says nothing of the spread
  EXPECT_THAT(permutation_shap(game, {.max_evals = 130, .seed = 52}).errors, Each(Le(1e-12)));
}

TEST(PermutationShap, OfTwoPlayersIsExactAndSaysSo) {
  TableGame game({.players = 2, .outputs = 2, .table_seed = 53});
  const GameValues values = permutation_shap(game, {.max_evals = 500, .target_error = 1e-9});
  EXPECT_THAT(values.values, near(shapley_by_orders(game), 1e-12));
  EXPECT_TRUE(values.errors.empty());
  EXPECT_TRUE(values.finished);
  EXPECT_EQ(values.evaluations, 5);
}

// Over many seeds, the mean squared error equals the mean squared standard error, and the mean
// error is none.
TEST(PermutationShap, ErrsAsMuchAsItsStandardErrorsSay) {
  TableGame game({.players = 5, .table_seed = 54});
  constexpr int kSeeds = 1000;
  for (const bool on_a_tree : {false, true}) {
    PermutationOptions options{.max_evals = 40 * 11};
    if (on_a_tree) options.tree = random_tree(5, 55);
    const std::vector<double> truth =
        on_a_tree ? owen_by_contexts(game, *options.tree) : shapley_by_orders(game);
    std::vector<double> error(5), squared_error(5), squared_standard_error(5);
    for (options.seed = 0; options.seed < kSeeds; ++options.seed) {
      const GameValues values = permutation_shap(game, options);
      for (size_t player = 0; player < 5; ++player) {
        const double difference = values.values[player] - truth[player];
        error[player] += difference / kSeeds;
        squared_error[player] += difference * difference / kSeeds;
        squared_standard_error[player] += values.errors[player] * values.errors[player] / kSeeds;
      }
    }
    for (size_t player = 0; player < 5; ++player) {
      EXPECT_NEAR(squared_error[player], squared_standard_error[player],
                  0.15 * squared_standard_error[player] + 1e-20);
      EXPECT_LE(std::abs(error[player]), 4 * std::sqrt(squared_error[player] / kSeeds) + 1e-12);
    }
  }
}

TEST(PermutationShap, OnATreeKeepsGroupsTogether) {
  const PlayerTree tree = random_tree(9, 56);
  const TreeLayout layout(tree, 9);
  NumpyRandom random(57);
  std::set<std::vector<int64_t>> different;
  for (int sample = 0; sample < 2000; ++sample) {
    const std::vector<int64_t> order = random_tree_order(layout, random);
    different.insert(order);
    for (int64_t node = 9; node < 17; ++node) {
      int64_t first = 9, last = -1;
      for (const int64_t player : players_below(tree, 9, node)) {
        const int64_t place = std::find(order.begin(), order.end(), player) - order.begin();
        first = std::min(first, place);
        last = std::max(last, place);
      }
      ASSERT_EQ(last - first + 1, layout.size(node));
    }
  }
  EXPECT_EQ(different.size(), 256);  // each of 8 merges both ways
}

TEST(PermutationShap, OnATreeLeavesPlayersThatDoNotVaryOut) {
  TableGame game({.players = 6, .table_seed = 58, .still = {1, 4}});
  const GameValues values = permutation_shap(game, {.max_evals = 90, .tree = random_tree(6, 59)});
  EXPECT_EQ(values.evaluations, 90);  // ten orders of four players
  EXPECT_EQ(values.values[1], 0);
  EXPECT_EQ(values.errors[1], 0);
}

TEST(PermutationShap, StopsWhereTheErrorIsSmallEnough) {
  TableGame game({.players = 6, .outputs = 2, .table_seed = 60});
  const GameValues values = permutation_shap(game, {.max_evals = 100000, .target_error = 0.01});
  EXPECT_TRUE(values.finished);
  EXPECT_THAT(values.errors, Each(Le(0.01)));
  EXPECT_LT(values.evaluations, 50000);
  // Eight orders earlier it was not yet.
  const GameValues before = permutation_shap(game, {.max_evals = values.evaluations - 8 * 13});
  EXPECT_GT(*std::max_element(before.errors.begin(), before.errors.end()), 0.01);
  const GameValues too_few = permutation_shap(game, {.max_evals = 200, .target_error = 0.01});
  EXPECT_FALSE(too_few.finished);
  EXPECT_EQ(too_few.evaluations, 195);
}

TEST(PermutationShap, DoesNotDependOnBatches) {
  for (const double target : {0.0, 0.02}) {
    TableGame game({.players = 7, .outputs = 2, .table_seed = 61});
    const auto run = [&](int64_t at_once) {
      game.at_once = at_once;
      game.largest_batch = 0;
      return permutation_shap(game, {.max_evals = 3000, .seed = 4, .target_error = target});
    };
    const GameValues expected = run(256);
    EXPECT_GT(game.largest_batch, 100);
    for (const int64_t at_once : {1, 4, 15, 100000}) {
      const GameValues values = run(at_once);
      EXPECT_EQ(values.values, expected.values);
      EXPECT_EQ(values.errors, expected.errors);
      EXPECT_EQ(values.evaluations, expected.evaluations);
      EXPECT_LE(game.largest_batch, at_once);
    }
  }
}

TEST(PermutationShap, GivesTheOrdersSoFarWhereTheWatchEndsIt) {
  TableGame game({.players = 7, .table_seed = 62});
  game.at_once = 10;
  EXPECT_THROW(permutation_shap(game, {}, ends_after(1)), Interrupted);
  const GameValues values = permutation_shap(game, {}, ends_after(5));
  EXPECT_FALSE(values.finished);
  EXPECT_NEAR(additivity_gaps(values)[0], 0, 1e-12);
  // 5 batches were asked for in two walks of 15, each in two batches, and the first batch of a
  // third.
  EXPECT_EQ(values.evaluations, 40);
  EXPECT_EQ(values.values, permutation_shap(game, {.max_evals = 30}).values);
}

TEST(PermutationShap, SaysHowManyEvaluationsItNeeds) {
  TableGame game({.players = 7, .table_seed = 63, .still = {0}});
  EXPECT_THAT([&] { permutation_shap(game, {.max_evals = 12}); },
              ThrowsMessage<InvalidInput>(
                  HasSubstr("vary needs at least 13 evaluations but max-evals is 12")));
  EXPECT_NO_THROW(permutation_shap(game, {.max_evals = 13}));
  EXPECT_THROW(permutation_shap(game, {.target_error = -1}), InvalidInput);
}

TEST(PermutationShap, OfPlayersThatDoNotVaryIsZero) {
  TableGame game({.players = 2, .table_seed = 64, .still = {0, 1}});
  EXPECT_THAT(permutation_shap(game).values, near({0, 0}, 0));
}

TEST(PermutationShap, NeverSaysThatAWrongValueHasNoError) {
  bool some_unknown = false;
  for (uint32_t seed = 0; seed < 30; ++seed) {
    TableGame game({.players = 4, .table_seed = 5});
    const std::vector<double> exact = shapley_by_orders(game);
    const GameValues found = permutation_shap(game, {.max_evals = 2 * 9, .seed = seed});
    for (size_t i = 0; i < 4; ++i) {
      EXPECT_TRUE(found.errors[i] > 1e-9 || std::abs(found.values[i] - exact[i]) < 1e-9)
          << seed << ' ' << i;
      some_unknown = some_unknown || std::isinf(found.errors[i]);
    }
  }
  EXPECT_TRUE(some_unknown);  // two orders in which a player comes behind the same ones
}

}  // namespace
}  // namespace whyformer
