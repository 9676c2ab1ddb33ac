#include <gmock/gmock.h>

#include <numeric>

#include "tests/support/brute_force.h"
#include "tests/support/near.h"
#include "tests/support/table_game.h"
#include "whyformer/error.h"
#include "whyformer/games.h"

namespace whyformer {
namespace {

// The mean over all orders of what i and j make together beyond what each makes alone, on top of
// the players that stand before both (the definition by orders of the Shapley-Taylor paper); half
// for (i, j) and half for (j, i).
std::vector<double> interactions_by_orders(TableGame& game) {
  const int64_t players = game.players(), outputs = game.outputs();
  std::vector<double> result(players * players * outputs);
  std::vector<int64_t> order(players);
  std::iota(order.begin(), order.end(), 0);
  double orders = 0;
  do {
    ++orders;
    for (int64_t second = 0; second < players; ++second) {
      Coalition before(players, false);
      for (int64_t first = 0; first < second; ++first) {
        const int64_t i = order[first], j = order[second];
        Coalition with_i = before, with_j = before, with_both = before;
        with_i[i] = with_both[i] = with_both[j] = with_j[j] = true;
        const std::vector<double> v = worth(game, before), v_i = worth(game, with_i),
                                  v_j = worth(game, with_j), v_ij = worth(game, with_both);
        for (int64_t output = 0; output < outputs; ++output) {
          const double half = (v_ij[output] - v_i[output] - v_j[output] + v[output]) / 2;
          result[(i * players + j) * outputs + output] += half;
          result[(j * players + i) * outputs + output] += half;
        }
        before[i] = true;
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  for (double& number : result) number /= orders;
  for (int64_t i = 0; i < players; ++i) {
    Coalition alone(players, false);
    const std::vector<double> nobody = worth(game, alone);
    alone[i] = true;
    const std::vector<double> value = worth(game, alone);
    for (int64_t output = 0; output < outputs; ++output) {
      result[(i * players + i) * outputs + output] = value[output] - nobody[output];
    }
  }
  return result;
}

TEST(ShapleyTaylor, EqualsShap) {
  for (const auto& expected : golden_games("interactions")) {
    TableGame game = golden_table(expected["game"]);
    EXPECT_THAT(shapley_taylor(game).values, near(expected["values"], 1e-12)) << expected["game"];
  }
}

TEST(ShapleyTaylor, IsTheMeanOverOrdersForSeveralOutputs) {
  for (int64_t players = 1; players <= 5; ++players) {
    TableGame game({.players = players, .outputs = 3, .table_seed = 21});
    EXPECT_THAT(shapley_taylor(game).values, near(interactions_by_orders(game), 1e-12));
  }
}

TEST(ShapleyTaylor, LeavesPlayersThatDoNotVaryAtZeroAndOthersInPlace) {
  TableGame game({.players = 5, .outputs = 2, .table_seed = 22, .still = {1, 3}});
  const InteractionValues values = shapley_taylor(game);
  EXPECT_EQ(values.evaluations, 8);
  EXPECT_THAT(values.values, near(interactions_by_orders(game), 1e-12));
  double sum = 0;
  for (size_t at = 1; at < values.values.size(); at += 2) sum += values.values[at];
  EXPECT_NEAR(sum, values.full[1] - values.base[1], 1e-12);
}

TEST(ShapleyTaylor, RefusesWhatDoesNotFit) {
  TableGame game({.players = 5, .table_seed = 23});
  EXPECT_THROW(shapley_taylor(game, {.max_evals = 31}), InvalidInput);
  class Crowd : public Game {
   public:
    int64_t players() const override { return 1000000; }
    std::vector<bool> varying() const override { return std::vector<bool>(1000000, false); }
    std::vector<double> values(const std::vector<Coalition>& coalitions) override {
      return std::vector<double>(coalitions.size());
    }
  } crowd;
  EXPECT_THROW(shapley_taylor(crowd), InvalidInput);
}

TEST(ShapleyTaylor, HasNothingToGiveWhereTheWatchEndsIt) {
  TableGame game({.players = 5, .table_seed = 24});
  game.at_once = 10;
  EXPECT_THROW(shapley_taylor(game, {}, ends_after(2)), Interrupted);
}

}  // namespace
}  // namespace whyformer
