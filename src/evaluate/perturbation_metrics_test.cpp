// shap's curves, region perturbation, IROF and ROAD: golden numbers and what must hold for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/numpy_random.h"
#include "tests/support/golden_metrics.h"

namespace whyformer {
namespace {

using Json = nlohmann::json;
using Values = std::vector<double>;

AnswerTable drawn_table(int64_t players, uint32_t seed) {
  NumpyRandom random(seed);
  AnswerTable table = AnswerTable::of(players, [&](const auto&) { return random.uniform(); });
  for (HiddenAnswer& row : table.rows) row.keeps_label = random.uniform() < 0.5;
  return table;
}

Values drawn_scores(int64_t players, uint32_t seed) {
  NumpyRandom random(seed);
  Values scores;
  for (int64_t i = 0; i < players; ++i) scores.push_back(random.normal());
  return scores;
}

Values mapped(Values scores, double (*change)(double)) {
  for (double& score : scores) score = change(score);
  return scores;
}

double negative(double score) { return -score; }
double magnitude(double score) { return std::abs(score); }

TEST(PerturbationGolden, EqualsSamekQuantusAndRoad) {
  int64_t different_irof = 0;
  for (const Json& game : golden_metrics()["games"]) {
    const AnswerTable table = table_of_game(game);
    for (const Json& one : game["cases"]) {
      SCOPED_TRACE(one["name"].get<std::string>());
      const Values scores = one["scores"].get<Values>();
      const double regions = *measured(kRegionPerturbation, scores, table);
      EXPECT_NEAR(regions, one["samek"]["region-perturbation"].get<double>(), 1e-12);
      EXPECT_NEAR(regions, one["quantus_region_perturbation"].get<double>(), 1e-12);
      for (const auto& [metric, expected] : one["road"].items()) {
        EXPECT_NEAR(*measured(find_metric(metric), scores, table), expected.get<double>(), 1e-12)
            << metric;
      }
      const double irof = *measured(kIrof, scores, table);
      EXPECT_NEAR(irof, one["irof"]["irof"].get<double>(), 1e-12);
      // Quantus' sum has half of the first and the last ratio too much.
      const double quantus =
          one["irof"]["quantus"].get<double>() / static_cast<double>(table.players);
      different_irof += std::abs(irof - quantus) > 1e-3 ? 1 : 0;
    }
  }
  EXPECT_GT(different_irof, 10);
}

TEST(KeepRemoveGolden, StepsOfOnePercentAreThoseOfShap) {
  const Json& one = golden_metrics()["many_units"];
  const Values weights = one["weights"].get<Values>(), scores = one["scores"].get<Values>();
  std::set<std::vector<bool>> asked;
  const AskHidden ask = [&](const std::vector<std::vector<bool>>& questions) {
    Values answers;
    for (const std::vector<bool>& hidden : questions) {
      double sum = 0;
      for (size_t i = 0; i < weights.size(); ++i) sum += hidden[i] ? 0 : weights[i];
      answers.push_back(1 / (1 + std::exp(-sum / 8)));
      asked.insert(hidden);
    }
    return answers;
  };
  for (const auto& [metric, expected] : one["areas"].items()) {
    asked.clear();
    EXPECT_NEAR(*measure(metric, scores, ask), expected.get<double>(), 1e-12) << metric;
    EXPECT_LE(asked.size(), 116u) << metric;  // steps of two
  }
}

TEST(KeepRemove, NegativeCurvesAreThePositiveOnesOfTheReversedScores) {
  const AnswerTable table = drawn_table(6, 31);
  const Values scores = drawn_scores(6, 32);
  ASSERT_TRUE(std::ranges::any_of(scores, [](double score) { return score < 0; }));
  const Values reversed = mapped(scores, negative), magnitudes = mapped(scores, magnitude);
  EXPECT_EQ(measured(kKeepNegative, scores, table), measured(kKeepPositive, reversed, table));
  EXPECT_EQ(measured(kRemoveNegative, scores, table), measured(kRemovePositive, reversed, table));
  EXPECT_EQ(measured(kKeepAbsolute, scores, table), measured(kKeepPositive, magnitudes, table));
  EXPECT_EQ(measured(kRemoveAbsolute, scores, table), measured(kRemovePositive, magnitudes, table));
  EXPECT_NE(measured(kKeepNegative, scores, table), measured(kKeepPositive, scores, table));
}

TEST(KeepRemove, WithoutUnitsOfTheSignTheCurveIsNotDefined) {
  const AnswerTable table = drawn_table(4, 33);
  for (const Metric* metric : {&kKeepNegative, &kRemoveNegative}) {
    EXPECT_EQ(measured(*metric, {0, 1, 2, 0.5}, table), std::nullopt) << metric->info.name;
    EXPECT_NE(measured(*metric, {0, 1, 2, -0.5}, table), std::nullopt) << metric->info.name;
  }
  for (const Metric* metric : {&kKeepPositive, &kRemovePositive}) {
    EXPECT_EQ(measured(*metric, {0, -1, -2, -0.5}, table), std::nullopt) << metric->info.name;
    EXPECT_NE(measured(*metric, {0, -1, 2, -0.5}, table), std::nullopt) << metric->info.name;
  }
}

TEST(RegionPerturbation, HidesAtMostAHundredUnits) {
  std::set<int64_t> sizes;
  const AskHidden ask = [&](const std::vector<std::vector<bool>>& questions) {
    Values answers;
    for (const std::vector<bool>& hidden : questions) {
      const auto count = std::count(hidden.begin(), hidden.end(), true);
      sizes.insert(count);
      answers.push_back(-static_cast<double>(count));
    }
    return answers;
  };
  // Drops 0, 1, …, 100.
  EXPECT_DOUBLE_EQ(*measure("region-perturbation", drawn_scores(150, 34), ask), 50);
  EXPECT_EQ(sizes.size(), 101u);
  EXPECT_EQ(*sizes.rbegin(), 100);
}

TEST(RegionPerturbation, ExactTermsOfASumHaveTheBestValueOfAllRankings) {
  const Values terms{0.5, -1, 0.25, 2, -0.125, 1};
  const AnswerTable table = AnswerTable::of(6, [&](const std::vector<bool>& visible) {
    double sum = 0.25;
    for (size_t i = 0; i < terms.size(); ++i) sum += visible[i] ? terms[i] : 0;
    return sum;
  });
  for (const Metric* metric : {&kRegionPerturbation, &kIrof}) {
    const double own = *measured(*metric, terms, table);
    Values scores{0, 1, 2, 3, 4, 5};
    double worst = own;
    do {
      const double other = *measured(*metric, scores, table);
      EXPECT_LE(other, own + 1e-12) << metric->info.name;
      worst = std::min(worst, other);
    } while (std::ranges::next_permutation(scores).found);
    EXPECT_GT(own - worst, 0.5) << metric->info.name;
  }
}

TEST(Irof, IsNoneWhereNothingChangesAndOneWhereNothingIsLeft) {
  const AnswerTable same = AnswerTable::of(3, [](const auto&) { return 0.5; });
  EXPECT_DOUBLE_EQ(*measured(kIrof, {1, 2, 3}, same), 0);
  const AnswerTable all = AnswerTable::of(3, [](const std::vector<bool>& visible) {
    return std::ranges::all_of(visible, [](bool one) { return one; }) ? 0.5 : 0.0;
  });
  EXPECT_DOUBLE_EQ(*measured(kIrof, {1, 2, 3}, all), 1);
}

TEST(Irof, DoesNotDependOnTheUnitOfTheAnswerAndNeedsAPositiveOne) {
  AnswerTable table = drawn_table(5, 35);
  const Values scores = drawn_scores(5, 36);
  const double own = *measured(kIrof, scores, table);
  for (HiddenAnswer& row : table.rows) row.value *= 8;
  EXPECT_EQ(measured(kIrof, scores, table), own);
  for (const double whole : {0.0, -1.0}) {
    table.rows.back().value = whole;
    EXPECT_FALSE(measured(kIrof, scores, table));
  }
}

TEST(Road, IsTheDifferenceAndChangesItsSignWithTheScores) {
  const AnswerTable table = drawn_table(7, 37);
  const Values scores = drawn_scores(7, 38), reversed = mapped(scores, negative);
  const double own = *measured(kRoad, scores, table);
  EXPECT_NE(own, 0);
  EXPECT_EQ(own, *measured(kRoadLerf, scores, table) - *measured(kRoadMorf, scores, table));
  EXPECT_EQ(measured(kRoad, reversed, table), -own);
  EXPECT_EQ(measured(kRoadLerf, scores, table), measured(kRoadMorf, reversed, table));
}

TEST(Road, NeedsLabels) {
  const AnswerTable numbers = AnswerTable::of(3, [](const auto&) { return 1.0; });
  for (const Metric* metric : {&kRoad, &kRoadMorf, &kRoadLerf}) {
    EXPECT_FALSE(measured(*metric, {1, 2, 3}, numbers)) << metric->info.name;
  }
}

TEST(PerturbationMetrics, TiesAreOrderedByIndex) {
  const AnswerTable table = drawn_table(6, 39);
  const Values ties{1, 2, 1, 2, 1, 1}, downwards{1.4, 2.4, 1.3, 2.3, 1.2, 1.1},
      upwards{1.1, 2.1, 1.2, 2.2, 1.3, 1.4};
  for (const Metric* metric :
       {&kRegionPerturbation, &kIrof, &kRoadMorf, &kRoadLerf, &kKeepAbsolute, &kRemoveAbsolute}) {
    const bool from_below = metric == &kRoadLerf;
    EXPECT_EQ(measured(*metric, ties, table),
              measured(*metric, from_below ? upwards : downwards, table))
        << metric->info.name;
  }
  for (const Metric* metric : {&kKeepNegative, &kRemoveNegative}) {
    EXPECT_EQ(measured(*metric, mapped(ties, negative), table),
              measured(*metric, mapped(downwards, negative), table))
        << metric->info.name;
    EXPECT_NE(measured(*metric, mapped(ties, negative), table),
              measured(*metric, mapped(upwards, negative), table))
        << metric->info.name;
  }
}

TEST(Complexity, OfScoresNearTheLargestNumberIsThatOfSmallOnes) {
  const Values scores{0.1, 0.9, -0.4, 0.3};
  for (const int exponent : {1024, -1060}) {
    Values other;
    for (const double score : scores) other.push_back(std::ldexp(score, exponent));
    const AnswerTable table{.players = 4};
    for (const Metric* metric : {&kComplexity, &kSparseness, &kEffectiveComplexity}) {
      EXPECT_NEAR(*measured(*metric, other, table), *measured(*metric, scores, table),
                  exponent > 0 ? 0 : 1e-3)  // few digits are left of the smallest numbers
          << metric->info.name;
    }
  }
}

}  // namespace
}  // namespace whyformer
