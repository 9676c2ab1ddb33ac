#include <gmock/gmock.h>

#include <cmath>
#include <numeric>
#include <set>

#include "base/pulse.h"
#include "games/lime_neighbours.h"
#include "tests/support/fit_test_games.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

LimeSelection selection_named(const std::string& name) {
  if (name == "forward_selection") return LimeSelection::kForward;
  if (name == "highest_weights") return LimeSelection::kHighestWeights;
  return name == "none" ? LimeSelection::kNone : LimeSelection::kAuto;
}

TEST(Lime, EqualsThePackageOnTables) {
  const nlohmann::json cases = fit_golden("lime");
  ASSERT_GT(cases.size(), 8u);
  for (const nlohmann::json& entry : cases) {
    const std::string name = "seed " + std::to_string(entry["seed"].get<int>());
    TableOfWorth game(entry["table"], entry["players"]);
    const bool words = entry["neighbours"] == "words";
    const LimeFit fit =
        lime(game, {.neighbours = words ? LimeNeighbours::kWords : LimeNeighbours::kPictureParts,
                    .samples = entry["samples"],
                    .kernel_width = entry["width"],
                    .selection = selection_named(entry["selection"]),
                    .players = entry["features"],
                    .seed = entry["seed"]});
    expect_near(fit.coefficients, entry["coefficients"], 1e-9, name);
    expect_near(fit.intercepts, {entry["intercept"].get<double>()}, 1e-9, name);
    expect_near(fit.r_squared, {entry["r_squared"].get<double>()}, 1e-9, name);
    expect_near(fit.local_predictions, {entry["local_prediction"].get<double>()}, 1e-9, name);
    EXPECT_EQ(fit.selected.front(), entry["selected"].get<std::vector<int64_t>>()) << name;
    EXPECT_TRUE(fit.finished);
  }
}

TEST(Lime, AsksForNoCoalitionTwice) {
  TableOfWorth game(random_numbers(1 << 6, 1), 6);
  const LimeFit fit = lime(game);
  EXPECT_EQ(std::set<Coalition>(game.asked.begin(), game.asked.end()).size(), game.asked.size());
  EXPECT_EQ(fit.evaluations, static_cast<int64_t>(game.asked.size()));
  EXPECT_LE(fit.evaluations, 64);
  EXPECT_EQ(game.asked.front(), Coalition(6, true));
}

TEST(Lime, RecoversALinearGameWithoutPenalty) {
  const std::vector<double> worth = random_numbers(14, 3);
  for (const LimeNeighbours neighbours : {LimeNeighbours::kWords, LimeNeighbours::kPictureParts}) {
    FunctionGame game = additive_game(worth);
    const LimeFit fit =
        lime(game, {.neighbours = neighbours, .samples = 300, .players = 14, .ridge = 0});
    expect_near(fit.coefficients, worth, 1e-10, "linear");
    EXPECT_NEAR(fit.intercepts[0], 0.25, 1e-10);
    EXPECT_NEAR(fit.local_predictions[0], fit.full[0], 1e-10);
    EXPECT_NEAR(fit.r_squared[0], 1, 1e-12);
    expect_near(fit.errors, std::vector<double>(14, 0.0), 1e-10, "its errors");
  }
}

TEST(Lime, KeepsThePlayersThatMatterMost) {
  std::vector<double> worth(20, 0.001);
  worth[3] = 2, worth[11] = -3, worth[17] = 1;
  for (const LimeSelection selection : {LimeSelection::kForward, LimeSelection::kHighestWeights}) {
    FunctionGame game = additive_game(worth);
    const LimeFit fit = lime(game, {.samples = 2000, .selection = selection, .players = 3});
    EXPECT_THAT(fit.selected.front(), ::testing::ElementsAre(11, 3, 17));
    EXPECT_EQ(fit.coefficients[0], 0);
  }
}

TEST(Lime, TellsItsErrors) {
  const std::vector<double> table = random_numbers(1 << 10, 21);
  const auto fit_of = [&](uint32_t seed, int64_t samples) {
    TableOfWorth game(table, 10);
    return lime(game,
                {.samples = samples, .selection = LimeSelection::kNone, .ridge = 0, .seed = seed});
  };
  const LimeFit reference = fit_of(1000, 400'000);
  double real = 0, told = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const LimeFit fit = fit_of(seed, 1000);
    for (int i = 0; i < 10; ++i) {
      const double off = fit.coefficients[i] - reference.coefficients[i];
      real += off * off;
      told += fit.errors[i] * fit.errors[i];
    }
  }
  EXPECT_GT(told / real, 0.7);
  EXPECT_LT(told / real, 1.5);
}

TEST(Lime, SaysThatAConstantGameIsExplained) {
  FunctionGame game(5, [](const Coalition&) { return 0.1; });
  const LimeFit fit = lime(game, {.samples = 100});
  expect_near(fit.coefficients, std::vector<double>(5, 0.0), 1e-15, "constant");
  EXPECT_EQ(fit.r_squared[0], 1);
}

TEST(Lime, DoesNotDependOnTheBatches) {
  const std::vector<double> table = random_numbers(2 << 9, 8);
  std::vector<LimeFit> fits;
  for (const int64_t most : {1, 13, 100000}) {
    TableOfWorth game(table, 9, 2);
    game.most = most;
    fits.push_back(lime(game, {.samples = 700}));
  }
  for (const LimeFit& fit : fits) {
    EXPECT_EQ(fit.coefficients, fits.front().coefficients);
    EXPECT_EQ(fit.errors, fits.front().errors);
  }
}

TEST(Lime, GivesWhatItHasWhenTheWatchEndsIt) {
  const std::vector<double> worth = random_numbers(14, 3);
  FunctionGame game = additive_game(worth);
  const LimeFit fit = lime(game, {.selection = LimeSelection::kNone, .ridge = 0},
                           [](int64_t done, int64_t of) { return done < 500 && done < of; });
  EXPECT_FALSE(fit.finished);
  EXPECT_EQ(fit.evaluations, 512);
  expect_near(fit.coefficients, worth, 1e-10, "linear");
  TableOfWorth one_by_one(random_numbers(1 << 4, 1), 4);
  one_by_one.most = 1;
  EXPECT_THROW(lime(one_by_one, {}, [](int64_t, int64_t) { return false; }), Interrupted);
}

// Ended while most neighbours are still to be drawn.
TEST(Lime, HasAnEstimateBeforeAMillionNeighboursAreDrawn) {
  const std::vector<double> worth = random_numbers(23, 3);
  for (const LimeNeighbours neighbours : {LimeNeighbours::kWords, LimeNeighbours::kPictureParts}) {
    FunctionGame game = additive_game(worth);
    const LimeFit fit = lime(game,
                             {.neighbours = neighbours,
                              .samples = 1'000'000,
                              .selection = LimeSelection::kNone,
                              .ridge = 0},
                             [&](int64_t done, int64_t) { return done < 5000; });
    EXPECT_FALSE(fit.finished);
    EXPECT_LT(fit.evaluations, 10'000);
    expect_near(fit.coefficients, worth, 1e-9, "linear");
    FunctionGame other = additive_game(worth);
    const PulseScope ended([&] { return other.asked < 1000; });
    EXPECT_FALSE(lime(other, {.neighbours = neighbours, .samples = 4'000'000}).finished);
  }
}

TEST(LimeDrawing, DrawsTheSameHoweverManyAtATime) {
  for (const LimeNeighbours neighbours : {LimeNeighbours::kWords, LimeNeighbours::kPictureParts}) {
    const LimeOptions options{.neighbours = neighbours, .samples = 700, .seed = 4};
    LimeDrawing at_once(options, 9), in_portions(options, 9);
    at_once.draw(700);
    for (const int64_t rows : {1, 99, 400, 300}) in_portions.draw(rows);
    EXPECT_EQ(in_portions.left(), 0);
    EXPECT_EQ(in_portions.rows().distinct, at_once.rows().distinct);
    EXPECT_EQ(in_portions.rows().draws, at_once.rows().draws);
    EXPECT_EQ(in_portions.rows().weights, at_once.rows().weights);
  }
}

// More than one portion of rows.
TEST(Lime, OfManyNeighboursIsTheFitToAllOfThem) {
  const std::vector<double> table = random_numbers(1 << 14, 21);
  TableOfWorth game(table, 14);
  const LimeFit fit = lime(game, {.samples = 30'000});
  LimeDrawing drawing({.samples = 30'000}, 14);
  drawing.draw(30'000);
  EXPECT_EQ(game.asked, drawing.rows().distinct);
  EXPECT_TRUE(fit.finished);
  EXPECT_EQ(fit.evaluations, static_cast<int64_t>(drawing.rows().distinct.size()));
}

TEST(Lime, RefusesWhatItCannotDo) {
  TableOfWorth game({0, 1, 2, 3}, 2);
  EXPECT_THROW(lime(game, {.samples = 1}), InvalidInput);
  EXPECT_THROW(lime(game, {.samples = int64_t{1} << 40}), InvalidInput);
  EXPECT_THROW(lime(game, {.kernel_width = -1}), InvalidInput);
  EXPECT_THROW(lime(game, {.players = 0}), InvalidInput);
  TableOfWorth nobody({1}, 2, 1, {0, 1});
  EXPECT_THROW(lime(nobody), InvalidInput);
}

TEST(Lime, DoesNotKnowTheErrorOfAPlayerThatWasNeverHidden) {
  int never_hidden = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    TableOfWorth game(random_numbers(1 << 3, 21), 3);
    const LimeFit fit = lime(game, {.samples = 5, .selection = LimeSelection::kNone, .seed = seed});
    for (const int64_t player : fit.selected[0]) {
      const bool hidden =
          std::any_of(game.asked.begin(), game.asked.end(),
                      [&](const Coalition& coalition) { return !coalition[player]; });
      EXPECT_EQ(std::isinf(fit.errors[player]), !hidden || game.asked.size() < 4)
          << seed << ' ' << player;
      never_hidden += !hidden && game.asked.size() >= 4;
    }
  }
  EXPECT_GT(never_hidden, 0);
}

TEST(Lime, DoesNotKnowErrorsWhereInputsAreFewerThanNumbersToFit) {
  TableOfWorth game(random_numbers(1 << 10, 21), 10);
  const LimeFit few = lime(game, {.samples = 8, .selection = LimeSelection::kNone});
  for (const double error : few.errors) EXPECT_TRUE(std::isinf(error));
  const LimeFit enough = lime(game, {.samples = 100, .selection = LimeSelection::kNone});
  for (const double error : enough.errors) EXPECT_TRUE(std::isfinite(error) && error > 0);
}

TEST(Lime, RefusesAKernelThatLeavesTheWholeInputAlone) {
  FunctionGame game = additive_game({1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(
      [&] { lime(game, {.samples = 100, .kernel_width = 0.25}); },
      ::testing::ThrowsMessage<InvalidInput>(::testing::HasSubstr("raise the kernel width")));
  const LimeFit narrow = lime(game, {.samples = 100, .kernel_width = 5});
  EXPECT_TRUE(std::isfinite(narrow.r_squared[0]));
}

}  // namespace
}  // namespace whyformer
