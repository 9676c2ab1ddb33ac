#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <numeric>

#include "games/kernel_coalitions.h"
#include "games/kernel_regression.h"
#include "tests/support/fit_test_games.h"
#include "whyformer/error.h"
#include "whyformer/interrupted.h"

namespace whyformer {
namespace {

using Kind = KernelSelection::Kind;

double factorial(int64_t n) { return n < 2 ? 1 : static_cast<double>(n) * factorial(n - 1); }

// The definition in plain loops.
std::vector<double> brute_force(const std::vector<double>& table, int64_t players) {
  std::vector<double> values(players);
  for (int64_t player = 0; player < players; ++player) {
    for (uint64_t s = 0; s < table.size(); ++s) {
      if (s >> player & 1) continue;
      const int64_t size = std::popcount(s);
      values[player] += factorial(size) * factorial(players - size - 1) / factorial(players) *
                        (table[s | uint64_t{1} << player] - table[s]);
    }
  }
  return values;
}

std::string name_of(const nlohmann::json& entry) {
  return std::to_string(entry["players"].get<int>()) + " players, " +
         entry["selection"].get<std::string>() + ", seed " +
         std::to_string(entry["seed"].get<int>());
}

TEST(KernelShap, EqualsShapOnTables) {
  const nlohmann::json cases = fit_golden("kernel");
  ASSERT_GT(cases.size(), 50u);
  for (const nlohmann::json& entry : cases) {
    TableOfWorth game(entry["table"], entry["players"], entry["outputs"], entry["still"]);
    const GameValues found = kernel_shap(
        game, {.samples = entry["samples"],
               .seed = entry["seed"],
               .selection = kernel_selection(entry["selection"].get<std::string>()),
               .link = entry["link"] == "logit" ? GameLink::kLogit : GameLink::kIdentity});
    expect_near(found.values, entry["values"], 1e-9, name_of(entry));
    EXPECT_TRUE(found.finished);
    EXPECT_EQ(found.evaluations, static_cast<int64_t>(game.asked.size()));
  }
}

TEST(KernelShap, EqualsShapAmongManyPlayers) {
  const nlohmann::json cases = fit_golden("kernel_sine");
  ASSERT_GT(cases.size(), 5u);
  for (const nlohmann::json& entry : cases) {
    const std::vector<double> angles = entry["angles"];
    FunctionGame game(entry["players"], [&](const Coalition& coalition) {
      double sum = 0;
      for (size_t i = 0; i < angles.size(); ++i) sum += coalition[i] ? angles[i] : 0;
      return std::sin(sum);
    });
    const GameValues found =
        kernel_shap(game, {.samples = entry["samples"],
                           .seed = entry["seed"],
                           .selection = kernel_selection(entry["selection"].get<std::string>())});
    expect_near(found.values, entry["values"], 1e-9, name_of(entry));
  }
}

TEST(KernelShap, HoldsTheSumWhateverIsSampledOrSelected) {
  for (const char* selection : {"none", "num_features(3)", "aic", "bic", "0.02"}) {
    for (const int64_t samples : {20, 40, 100, 0}) {
      TableOfWorth game(random_numbers(2 << 9, 5), 9, 2);
      const GameValues found =
          kernel_shap(game, {.samples = samples, .selection = kernel_selection(selection)});
      if (std::all_of(found.values.begin(), found.values.end(), [](double v) { return v == 0; }))
        continue;
      expect_near(additivity_gaps(found), {0, 0}, 1e-12, selection);
    }
  }
}

TEST(KernelShap, OfEveryCoalitionIsTheShapleyValue) {
  for (int64_t players = 2; players <= 10; ++players) {
    const std::vector<double> table = random_numbers(size_t{1} << players, players);
    TableOfWorth game(table, players);
    const GameValues found = kernel_shap(game);
    expect_near(found.values, brute_force(table, players), 1e-13, "table");
    EXPECT_EQ(found.evaluations, int64_t{1} << players);
    EXPECT_TRUE(found.errors.empty());

    // The regression that the table stands in for.
    const KernelCoalitions coalitions = kernel_coalitions(players, proper_coalitions(players), 0);
    ASSERT_TRUE(coalitions.draws.empty());
    KernelRegression regression(coalitions, {table.back() - table.front()}, {},
                                proper_coalitions(players));
    std::vector<double> y;
    for (const Coalition& coalition : coalitions.rows) {
      size_t row = 0;
      for (int64_t player = 0; player < players; ++player)
        row |= static_cast<size_t>(coalition[player]) << player;
      y.push_back(table[row] - table.front());
    }
    regression.take(y);
    expect_near(regression.fit().values, found.values, 1e-12, "regression");
  }
}

TEST(KernelShap, OfAnAdditiveGameIsExactFromAnySample) {
  const std::vector<double> worth = random_numbers(25, 3);
  for (const int64_t samples : {60, 100, 500}) {
    FunctionGame game = additive_game(worth);
    const GameValues found = kernel_shap(game, {.samples = samples, .seed = 4});
    expect_near(found.values, worth, 1e-10, "additive");
    expect_near(found.errors, std::vector<double>(25, 0.0), 1e-10, "its errors");
  }
}

TEST(KernelShap, SelectsEveryoneWhoMattersInAnAdditiveGame) {
  std::vector<double> worth = random_numbers(14, 3);
  worth[2] = worth[9] = 0;
  for (const char* selection : {"aic", "bic", "num_features(14)"}) {
    FunctionGame game = additive_game(worth);
    expect_near(
        kernel_shap(game, {.samples = 300, .selection = kernel_selection(selection)}).values, worth,
        1e-10, selection);
  }
}

TEST(KernelShap, GivesPlayersThatAreAlikeTheSame) {
  std::vector<double> table = random_numbers(1 << 8, 9);
  const auto either = [](size_t row) { return (row & 3) != 0 ? (row & ~size_t{3}) | 1 : row; };
  for (size_t row = 0; row < table.size(); ++row) table[row] = table[either(row)];
  TableOfWorth game(table, 8);
  const GameValues found = kernel_shap(game);
  EXPECT_NEAR(found.values[0], found.values[1], 1e-13);
}

TEST(KernelShap, GivesPlayersThatChangeNothingExactlyNothing) {
  TableOfWorth game(random_numbers(1 << 6, 2), 8, 1, {0, 5});
  const GameValues found = kernel_shap(game, {.samples = 40});
  EXPECT_EQ(found.values[0], 0);
  EXPECT_EQ(found.values[5], 0);
  EXPECT_EQ(found.errors[5], 0);
  TableOfWorth alone({0.25, 1}, 3, 1, {0, 2});
  EXPECT_THAT(kernel_shap(alone).values, ::testing::ElementsAre(0, 0.75, 0));
  TableOfWorth nobody({0.25}, 2, 1, {0, 1});
  EXPECT_THAT(kernel_shap(nobody).values, ::testing::ElementsAre(0, 0));
}

// The sum ties a coalition to its complement, so that only their difference can be fitted.
TEST(KernelShap, FitsEveryPairWhenTheyAreFewerThanPlayers) {
  const std::vector<double> table = random_numbers(1 << 9, 11);
  TableOfWorth game(table, 9);
  const GameValues found = kernel_shap(game, {.samples = 6});
  ASSERT_EQ(game.asked.size(), 8u);
  for (const Coalition& coalition : game.asked) {
    double sum = 0;
    size_t row = 0;
    for (size_t player = 0; player < 9; ++player) {
      if (coalition[player]) sum += found.values[player], row |= size_t{1} << player;
    }
    EXPECT_NEAR(sum, (table[row] - table[511 - row] + table[511] - table[0]) / 2, 1e-12);
  }
}

TEST(KernelShap, DoesNotDependOnTheBatches) {
  const std::vector<double> table = random_numbers(1 << 12, 8);
  std::vector<GameValues> found;
  for (const int64_t most : {1, 7, 256, 100000}) {
    for (const double target : {0.0, 0.08}) {
      TableOfWorth game(table, 12);
      game.most = most;
      found.push_back(kernel_shap(game, {.samples = 1500, .target_error = target}));
    }
  }
  for (size_t i = 2; i < found.size(); ++i) {
    EXPECT_EQ(found[i].values, found[i % 2].values);
    EXPECT_EQ(found[i].errors, found[i % 2].errors);
    EXPECT_EQ(found[i].evaluations, found[i % 2].evaluations);
  }
}

TEST(KernelShap, StopsWhenTheErrorIsSmallEnough) {
  const std::vector<double> table = random_numbers(1 << 14, 8);
  TableOfWorth game(table, 14);
  const GameValues loose = kernel_shap(game, {.samples = 8000, .target_error = 0.05});
  EXPECT_TRUE(loose.finished);
  EXPECT_LT(loose.evaluations, 8000);
  EXPECT_LE(*std::max_element(loose.errors.begin(), loose.errors.end()), 0.05);
  EXPECT_FALSE(kernel_shap(game, {.samples = 2000, .target_error = 1e-6}).finished);
}

// Over many seeds the jackknife's errors are about the real ones.
TEST(KernelShap, TellsItsErrors) {
  const int64_t players = 12;
  const std::vector<double> table = random_numbers(size_t{1} << players, 17),
                            exact = brute_force(table, players);
  double real = 0, told = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    TableOfWorth game(table, players);
    const GameValues found = kernel_shap(game, {.samples = 400, .seed = seed});
    for (int64_t i = 0; i < players; ++i) {
      real += (found.values[i] - exact[i]) * (found.values[i] - exact[i]);
      told += found.errors[i] * found.errors[i];
    }
  }
  EXPECT_GT(told / real, 0.7);
  EXPECT_LT(told / real, 1.5);
}

TEST(KernelShap, GivesWhatItHasWhenTheWatchEndsIt) {
  const std::vector<double> table = random_numbers(1 << 12, 8);
  TableOfWorth game(table, 12);
  game.most = 50;
  std::vector<std::pair<int64_t, int64_t>> told;
  const GameValues part = kernel_shap(game, {.samples = 1500}, [&](int64_t done, int64_t of) {
    told.emplace_back(done, of);
    return done < 900;
  });
  EXPECT_FALSE(part.finished);
  EXPECT_EQ(part.evaluations, 902);
  EXPECT_EQ(part.evaluations, static_cast<int64_t>(game.asked.size()));
  EXPECT_EQ(told.front(), std::make_pair(int64_t{2}, int64_t{1502}));
  expect_near(additivity_gaps(part), {0}, 1e-12, "part");
  expect_near(part.values, brute_force(table, 12), 0.5, "part");
  // A few dozen coalitions are enough for an estimate, and for an idea of how good it is.
  const GameValues early = kernel_shap(game, {}, [](int64_t done, int64_t) { return done < 50; });
  EXPECT_FALSE(early.finished);
  expect_near(additivity_gaps(early), {0}, 1e-12, "early");
  for (const double error : early.errors) EXPECT_TRUE(error > 0.01 && error < 10) << error;
  EXPECT_THROW(kernel_shap(game, {}, [](int64_t, int64_t) { return false; }), Interrupted);
}

TEST(KernelShap, RefusesWhatItCannotDo) {
  TableOfWorth game({0, 1, 2, 3}, 2);
  EXPECT_THROW(kernel_shap(game, {.samples = -1}), InvalidInput);
  EXPECT_THROW(kernel_shap(game, {.samples = int64_t{1} << 40}), InvalidInput);
  EXPECT_THROW(kernel_shap(game, {.target_error = -1}), InvalidInput);
  EXPECT_THROW(kernel_shap(game, {.selection = {.kind = Kind::kNumber, .players = 0}}),
               InvalidInput);
  FunctionGame crowd(5000, [](const Coalition&) { return 0.0; });
  EXPECT_THROW(kernel_shap(crowd), InvalidInput);
  TableOfWorth broken({0, NAN, 2, 3}, 2);
  EXPECT_THROW(kernel_shap(broken), Error);
}

TEST(KernelSelection, IsNamedAsInShap) {
  EXPECT_EQ(kernel_selection("none").kind, Kind::kNone);
  EXPECT_EQ(kernel_selection("num_features(7)").players, 7);
  EXPECT_EQ(kernel_selection("bic").kind, Kind::kBic);
  EXPECT_EQ(kernel_selection("0.5").alpha, 0.5);
  for (const char* name :
       {"", "some", "num_features(0)", "num_features(x)", "-1", "1e999", "0.5x"}) {
    EXPECT_THROW(kernel_selection(name), InvalidInput) << name;
  }
}

// The game is not additive, so two players' values cannot follow from coalitions that always hold
// both or none.
TEST(KernelShap, SaysThatFewerEquationsThanPlayersLeaveTheValuesOpen) {
  const std::vector<double> table = random_numbers(1 << 7, 3);
  for (const int64_t samples :
       {2, 4, 10}) {  // pairs of a coalition and its complement: at most 5 equations for 6
    TableOfWorth game(table, 7);
    const GameValues found = kernel_shap(game, {.samples = samples});
    EXPECT_FALSE(found.determined) << samples;
    for (const double error : found.errors) EXPECT_TRUE(std::isinf(error)) << samples;
  }
  TableOfWorth game(table, 7);
  const GameValues enough = kernel_shap(game, {.samples = 60});
  EXPECT_TRUE(enough.determined);
  for (const double error : enough.errors) EXPECT_TRUE(std::isfinite(error) && error > 0);
}

// Where one block less leaves values open, the jackknife has nothing to compare.
TEST(KernelShap, NeverSaysThatAWrongValueHasNoError) {
  const std::vector<double> table = random_numbers(1 << 6, 4), exact = brute_force(table, 6);
  for (uint32_t seed = 0; seed < 30; ++seed) {
    for (const int64_t samples : {6, 10, 12, 16}) {
      TableOfWorth game(table, 6);
      const GameValues found = kernel_shap(game, {.samples = samples, .seed = seed});
      for (size_t i = 0; i < 6; ++i) {
        EXPECT_TRUE(found.errors[i] > 1e-9 || std::abs(found.values[i] - exact[i]) < 1e-9)
            << seed << ' ' << samples;
      }
    }
  }
}

}  // namespace
}  // namespace whyformer
