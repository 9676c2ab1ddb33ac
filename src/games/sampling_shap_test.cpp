#include <gmock/gmock.h>

#include <cmath>

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

TEST(SamplingShap, EqualsShap) {
  for (const auto& expected : golden_games("sampling")) {
    TableGame game = golden_table(expected["game"]);
    const GameValues values =
        sampling_shap(game, {.samples = expected["samples"], .seed = expected["seed"]});
    EXPECT_THAT(values.values, near(expected["values"], 1e-9)) << expected;
    EXPECT_THAT(values.base, near(expected["base"], 1e-12));
    EXPECT_EQ(values.evaluations, game.asked);
    EXPECT_TRUE(values.finished);
  }
}

// shap gives NaN for every output where one output's differences do not vary.
TEST(SamplingShap, CopesWithAnOutputThatDoesNotVary) {
  TableGame game({.players = 4, .outputs = 2, .table_seed = 71});
  TableGame alone({.players = 4, .table_seed = 71});
  for (int64_t members = 0; members < 16; ++members) {
    game.table()[2 * members + 1] = static_cast<double>(members & 1) * 3;  // player 0 alone decides
    alone.table()[members] = game.table()[2 * members];
  }
  const GameValues values = sampling_shap(game, {.samples = 4000});
  const std::vector<double> truth = shapley_by_orders(alone);
  for (int64_t player = 0; player < 4; ++player) {
    EXPECT_NEAR(values.values[2 * player], truth[player], 0.05);
    EXPECT_NEAR(values.values[2 * player + 1], player == 0 ? 3 : 0, 1e-12);
    EXPECT_EQ(values.errors[2 * player + 1], 0);
  }
}

TEST(SamplingShap, AddsUpWhereShapLeavesAMillionthOfALargeGap) {
  TableGame game({.players = 5, .table_seed = 72});
  for (double& number : game.table()) number *= 1e5;
  game.table()[31] = 0;  // so that only 1e-6 is allowed
  const GameValues values = sampling_shap(game, {.samples = 10});
  EXPECT_NEAR(additivity_gaps(values)[0], 0, 1e-6);
}

// Before what is missing is spread, each value is a mean of independent draws. Spreading moves
// values a little, so errors in units of the standard error stay at or below 1 on average.
TEST(SamplingShap, ErrsNoMoreThanItsStandardErrorsSay) {
  TableGame game({.players = 4, .table_seed = 73, .backgrounds = 3});
  const std::vector<double> truth = shapley_by_orders(game);
  double squares = 0;
  std::vector<double> mean(4);
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const GameValues values = sampling_shap(game, {.samples = 600, .seed = seed});
    for (size_t player = 0; player < 4; ++player) {
      const double error = values.values[player] - truth[player];
      mean[player] += error / 300;
      squares += error * error / (values.errors[player] * values.errors[player]);
    }
  }
  EXPECT_LT(squares / 1200, 1.1);
  EXPECT_GT(squares / 1200, 0.5);
  EXPECT_THAT(mean, near(std::vector<double>(4), 0.005));
}

TEST(SamplingShap, StopsWhereTheErrorIsSmallEnough) {
  TableGame game({.players = 5, .outputs = 2, .table_seed = 74, .backgrounds = 2});
  const GameValues values = sampling_shap(game, {.samples = 1000000, .target_error = 0.01});
  EXPECT_TRUE(values.finished);
  EXPECT_THAT(values.errors, Each(Le(0.01)));
  EXPECT_GT(*std::max_element(values.errors.begin(), values.errors.end()),
            0.007);  // and not far too many samples
  const GameValues first_round = sampling_shap(game, {.samples = 1000000, .target_error = 1});
  EXPECT_EQ(first_round.evaluations, 2 + 2 * 500);
  const GameValues too_few = sampling_shap(game, {.samples = 700, .target_error = 0.001});
  EXPECT_FALSE(too_few.finished);
  EXPECT_LE(too_few.evaluations, 2 + 2 * 700);
  EXPECT_GT(too_few.evaluations, 2 + 2 * 680);
}

TEST(SamplingShap, DoesNotDependOnBatches) {
  for (const double target : {0.0, 0.02}) {
    TableGame game({.players = 4, .outputs = 2, .table_seed = 75, .backgrounds = 3});
    const auto run = [&](int64_t at_once) {
      game.at_once = at_once;
      game.largest_batch = 0;
      return sampling_shap(game, {.samples = 3000, .seed = 6, .target_error = target});
    };
    const GameValues expected = run(256);
    for (const int64_t at_once : {1, 2, 7, 100000}) {
      const GameValues values = run(at_once);
      EXPECT_EQ(values.values, expected.values);
      EXPECT_EQ(values.errors, expected.errors);
      EXPECT_EQ(values.evaluations, expected.evaluations);
      EXPECT_LE(game.largest_batch, at_once);
    }
  }
}

TEST(SamplingShap, GivesWhatWasSampledWhereTheWatchEndsIt) {
  TableGame game({.players = 3, .outputs = 2, .table_seed = 76, .backgrounds = 2});
  game.at_once = 50;
  // 300 samples of the first round are 12 batches; the third player's first comes in batch 10.
  EXPECT_THROW(sampling_shap(game, {}, ends_after(1)), Interrupted);
  // Players that were not sampled share what the others leave.
  const GameValues early = sampling_shap(game, {}, ends_after(9));
  EXPECT_THAT(additivity_gaps(early), near({0, 0}, 1e-12));
  EXPECT_TRUE(std::isinf(early.errors.back()));
  for (const int64_t calls : {10, 11, 13, 20}) {
    game.asked = 0;
    const GameValues values = sampling_shap(game, {}, ends_after(calls));
    EXPECT_FALSE(values.finished);
    EXPECT_EQ(values.evaluations, game.asked);
    EXPECT_THAT(additivity_gaps(values), near({0, 0}, 1e-6));
  }
  EXPECT_EQ(sampling_shap(game, {.samples = 300}).values,
            sampling_shap(game, {}, ends_after(13)).values);
}

TEST(SamplingShap, OfOneVaryingPlayerIsExact) {
  TableGame game({.players = 3, .table_seed = 77, .still = {0, 2}, .backgrounds = 2});
  const GameValues values = sampling_shap(game);
  EXPECT_THAT(values.values, near({0, values.full[0] - values.base[0], 0}, 0));
  EXPECT_TRUE(values.errors.empty());
  EXPECT_EQ(values.evaluations, 2);
}

TEST(SamplingShap, SaysHowManySamplesItNeeds) {
  TableGame game({.players = 4, .table_seed = 78});
  EXPECT_THAT([&] { sampling_shap(game, {.samples = 7}); },
              ThrowsMessage<InvalidInput>(HasSubstr("from 8 to")));
  EXPECT_NO_THROW(sampling_shap(game, {.samples = 8}));
  EXPECT_THROW(sampling_shap(game, {.samples = -1}), InvalidInput);
}

TEST(SamplingShap, NeverSaysThatAWrongValueHasNoError) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    TableGame game({.players = 3, .table_seed = 5});
    const std::vector<double> exact = shapley_by_orders(game);
    const GameValues found = sampling_shap(game, {.samples = 6, .seed = seed});
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(found.errors[i] > 1e-9 || std::abs(found.values[i] - exact[i]) < 1e-9)
          << seed << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace whyformer
