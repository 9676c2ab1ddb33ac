#include "games/kernel_start.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/pulse.h"
#include "games/kernel_regression.h"
#include "tests/support/fit_test_games.h"

namespace whyformer {
namespace {

double waves(const Coalition& coalition) {
  double angle = 0.3;
  for (size_t i = 0; i < coalition.size(); ++i)
    angle += coalition[i] ? std::cos(static_cast<double>(i)) : 0;
  return std::sin(angle) + (coalition[0] && !coalition[3] ? 1 : 0);
}

// Values over nothing visible, of all rows of a plan.
std::vector<double> waves_of(const KernelCoalitions& plan) {
  const Coalition nothing(plan.rows.front().size());
  std::vector<double> y;
  for (const Coalition& row : plan.rows) y.push_back(waves(row) - waves(nothing));
  return y;
}

double waves_in_all(int64_t players) {
  return waves(Coalition(players, true)) - waves(Coalition(players));
}

TEST(KernelStart, IsPartOfThePlan) {
  struct Case {
    int64_t players, samples;
  };
  for (const auto [players, samples] : {Case{15, 20'000}, Case{15, (1 << 15) - 2}, Case{16, 20'000},
                                        Case{23, 60'000}, Case{300, 17'000}}) {
    const KernelCoalitions plan = kernel_coalitions(players, samples, 5);
    const KernelStart start = kernel_start(players, samples, 5, samples);
    ASSERT_GT(start.rows(), 500) << players;
    const std::set<int64_t> once(start.plan_rows.begin(), start.plan_rows.end());
    EXPECT_EQ(static_cast<int64_t>(once.size()), start.rows());
    for (int64_t row = 0; row < start.rows(); ++row) {
      const int64_t plan_row = start.plan_rows[row];
      ASSERT_EQ(start.coalitions.rows[row], plan.rows[plan_row]) << players << ' ' << row;
      if (row < start.coalitions.enumerated()) {
        EXPECT_EQ(start.coalitions.enumerated_weights[row], plan.enumerated_weights[plan_row]);
      }
    }
    const auto is_drawn = [&](int64_t row) { return row >= plan.enumerated(); };
    EXPECT_EQ(std::ranges::count_if(start.plan_rows, is_drawn), start.drawn);
    EXPECT_TRUE(start.drawn == 0 || once.contains(plan.enumerated() + start.drawn - 1));
  }
}

TEST(KernelStart, IsLeftOutWhereThePlanIsSmall) {
  EXPECT_TRUE(kernel_start(23, 16'383, 0, 16'383).empty());
  EXPECT_FALSE(kernel_start(23, 16'384, 0, 16'384).empty());
}

TEST(KernelStart, DrawsNoMoreThanItMay) {
  for (const int64_t players : {15, 16, 23}) {
    EXPECT_LE(kernel_start(players, 20'000, 1, 256).drawn, 256) << players;
  }
}

// As if all had been drawn before the first was asked about.
TEST(KernelStart, ChangesNoNumberOfTheResult) {
  for (const int64_t players : {16, 18}) {
    const int64_t samples = 20'000;
    FunctionGame game(players, waves);
    const GameValues found = kernel_shap(game, {.samples = samples, .seed = 3});
    const KernelCoalitions plan = kernel_coalitions(players, samples, 3);
    KernelRegression regression(plan, {waves_in_all(players)}, {}, samples);
    regression.take(waves_of(plan));
    const KernelRegression::Fit fit = regression.fit();
    EXPECT_EQ(found.values, fit.values);
    EXPECT_EQ(found.errors, fit.errors);
    EXPECT_EQ(found.evaluations, 2 + static_cast<int64_t>(plan.rows.size()));
    EXPECT_EQ(game.asked, found.evaluations);
    EXPECT_TRUE(found.finished);
  }
}

TEST(KernelStart, ChangesNoNumberOfARunUpToAnError) {
  const int64_t players = 18, samples = 20'000;
  const KernelCoalitions plan = kernel_coalitions(players, samples, 3);
  KernelRegression regression(plan, {waves_in_all(players)}, {}, samples);
  const std::vector<double> y = waves_of(plan);
  int64_t rows = plan.enumerated();
  KernelRegression::Fit fit;
  const double target = 0.03;
  do {
    rows += 256;
    ASSERT_LT(rows, static_cast<int64_t>(plan.rows.size()));
    regression.take({y.begin(), y.begin() + rows});
    fit = regression.fit();
  } while (*std::ranges::max_element(fit.errors) > target);
  FunctionGame game(players, waves);
  const GameValues found =
      kernel_shap(game, {.samples = samples, .seed = 3, .target_error = target});
  EXPECT_EQ(found.values, fit.values);
  EXPECT_EQ(found.errors, fit.errors);
  EXPECT_EQ(found.evaluations, 2 + rows);
}

// Ended while most coalitions are still being drawn.
TEST(KernelShap, HasAnEstimateBeforeAMillionCoalitionsAreDrawn) {
  const std::vector<double> worth = random_numbers(23, 3);
  for (const double target : {0.0, 1e-9}) {
    FunctionGame game = additive_game(worth);
    const PulseScope ended([&] { return game.asked < 500; });
    const GameValues found = kernel_shap(game, {.samples = 1'000'000, .target_error = target});
    EXPECT_FALSE(found.finished);
    EXPECT_LT(found.evaluations, 10'000);
    expect_near(found.values, worth, 1e-9, "additive");
  }
}

TEST(KernelShap, OfALargePlanIsNoFurtherOffWhenInterrupted) {
  const int64_t players = 15, size = 500;
  FunctionGame game(players, waves);
  const std::vector<double> exact = kernel_shap(game, {.samples = (1 << players) - 2}).values;
  const auto off_by = [&](const GameValues& found) {
    double sum = 0;
    for (size_t i = 0; i < exact.size(); ++i)
      sum += (found.values[i] - exact[i]) * (found.values[i] - exact[i]);
    return sum;
  };
  double interrupted = 0, full = 0, told = 0;
  game.at_once = 2;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    full += off_by(kernel_shap(game, {.samples = size, .seed = seed}));
    const GameValues part = kernel_shap(game, {.samples = 20'000, .seed = seed},
                                        [&](int64_t done, int64_t) { return done < 2 + size; });
    EXPECT_EQ(part.evaluations, 2 + size);
    EXPECT_FALSE(part.finished);
    interrupted += off_by(part);
    for (const double error : part.errors) told += error * error;
  }
  EXPECT_LT(interrupted, 1.2 * full);
  EXPECT_GT(told, 0.6 * interrupted);
  EXPECT_LT(told, 6 * interrupted);
}

}  // namespace
}  // namespace whyformer
