#include "games/kernel_order.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/support/fit_test_games.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

int64_t members_in(const Coalition& coalition) { return std::ranges::count(coalition, true); }

TEST(KernelOrder, HasEveryRowOnce) {
  for (const int64_t players : {2, 3, 7, 12}) {
    const KernelCoalitions planned =
        kernel_coalitions(players, std::min<int64_t>(300, proper_coalitions(players)), 1);
    std::vector<int64_t> every(planned.rows.size());
    std::iota(every.begin(), every.end(), 0);
    EXPECT_THAT(asking_order(planned, 1), testing::UnorderedElementsAreArray(every));
    const std::vector<int64_t> first = enumerated_first(planned, 1);
    EXPECT_THAT(first, testing::UnorderedElementsAreArray(every));
    EXPECT_TRUE(std::is_sorted(first.begin() + planned.enumerated(), first.end()));
  }
}

// Sizes have weights (M - 1) / (s (M - s)), those of a size and of its complements together.
TEST(KernelOrder, GivesEverySizeItsShareOfAnyBeginning) {
  const int64_t players = 15;
  const KernelCoalitions planned = kernel_coalitions(players, 3000, 1);
  const std::vector<int64_t> order = asking_order(planned, 1);
  for (const int64_t count : {20, 40, 60}) {
    std::vector<double> seen(players, 0), shares(players, 0);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) seen[members_in(planned.rows[order[i]])] += 1;
    for (int64_t size = 1; size < players; ++size)
      sum += shares[size] = 1.0 / static_cast<double>(size * (players - size));
    for (int64_t size = 1; size < players; ++size) {
      EXPECT_NEAR(seen[size], shares[size] / sum * static_cast<double>(count), 1.01)
          << count << ' ' << size;
    }
  }
}

TEST(KernelOrder, AsksForAComplementRightBehind) {
  const KernelCoalitions planned = kernel_coalitions(9, 200, 3);
  const std::vector<int64_t> order = asking_order(planned, 3);
  for (size_t i = 0; i + 1 < order.size(); i += 2) {
    Coalition complement = planned.rows[order[i]];
    complement.flip();
    EXPECT_EQ(planned.rows[order[i + 1]], complement);
  }
}

TEST(KernelBeginning, OfEverythingIsComplete) {
  const KernelCoalitions planned = kernel_coalitions(7, proper_coalitions(7), 0);
  const std::vector<int64_t> order = asking_order(planned, 0);
  const KernelBeginning all = beginning_of(planned, order, static_cast<int64_t>(order.size()));
  EXPECT_TRUE(all.coalitions.draws.empty());
  EXPECT_NEAR(std::accumulate(all.coalitions.enumerated_weights.begin(),
                              all.coalitions.enumerated_weights.end(), 0.0),
              1, 1e-12);
}

TEST(KernelBeginning, LeavesOutACoalitionWithoutItsComplement) {
  const KernelCoalitions planned = kernel_coalitions(9, 200, 3);
  const std::vector<int64_t> order = asking_order(planned, 3);
  EXPECT_EQ(beginning_of(planned, order, 41).rows.size(), 40u);
}

// Worth with interactions of all orders, and what the players are worth by the definition.
struct HardGame {
  explicit HardGame(int64_t count)
      : players(count), angles(random_numbers(count, 21)), exact(count, 0.0) {
    const auto worth_of_bits = [&](uint64_t bits) {
      Coalition coalition(players);
      for (int64_t i = 0; i < players; ++i) coalition[i] = bits >> i & 1;
      return worth(coalition);
    };
    for (int64_t player = 0; player < players; ++player) {
      for (uint64_t bits = 0; bits < uint64_t{1} << players; ++bits) {
        if (bits >> player & 1) continue;
        const int64_t size = std::popcount(bits);
        const double orders = std::exp(std::lgamma(size + 1) + std::lgamma(players - size) -
                                       std::lgamma(players + 1));
        exact[player] +=
            orders * (worth_of_bits(bits | uint64_t{1} << player) - worth_of_bits(bits));
      }
    }
  }
  double worth(const Coalition& coalition) const {
    double sum = 0.3;
    for (int64_t i = 0; i < players; ++i) sum += coalition[i] ? angles[i] * (i < 3 ? 3 : 1) : 0;
    return std::sin(2 * sum) + (coalition[0] && !coalition[5] ? 1 : 0);
  }
  double square_error(const GameValues& found) const {
    double sum = 0;
    for (int64_t i = 0; i < players; ++i)
      sum += (found.values[i] - exact[i]) * (found.values[i] - exact[i]);
    return sum;
  }
  int64_t players;
  std::vector<double> angles, exact;
};

TEST(KernelShap, InterruptedIsNoFurtherOffThanAFullRunOfThatSize) {
  const HardGame hard(13);
  for (const int64_t size : {60, 100, 200, 500}) {
    double interrupted = 0, full = 0, told = 0;
    for (uint32_t seed = 0; seed < 200; ++seed) {
      FunctionGame game(hard.players,
                        [&](const Coalition& coalition) { return hard.worth(coalition); });
      full += hard.square_error(kernel_shap(game, {.samples = size, .seed = seed}));
      game.at_once = 2;
      const GameValues part =
          kernel_shap(game, {.seed = seed}, [&](int64_t done, int64_t) { return done < 2 + size; });
      EXPECT_FALSE(part.finished);
      EXPECT_EQ(part.evaluations, 2 + size);
      interrupted += hard.square_error(part);
      for (const double error : part.errors) told += error * error;
    }
    EXPECT_LT(interrupted, 1.1 * full) << size;
    // Errors are about right, too large rather than too small. Of the smallest sample some are not
    // known: without a tenth of it the others leave values open.
    if (size < 100) continue;
    EXPECT_GT(told, 0.6 * interrupted) << size;
    EXPECT_LT(told, 6 * interrupted) << size;
  }
}

}  // namespace
}  // namespace whyformer
