// What must hold for metrics, whatever the model and the scores.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/numpy_random.h"
#include "evaluate/random_subsets.h"
#include "tests/support/table_answers.h"

namespace whyformer {
namespace {

using ScoreList = std::vector<double>;

AnswerTable random_table(int64_t players, uint32_t seed) {
  NumpyRandom random(seed);
  AnswerTable table =
      AnswerTable::of(players, [&](const std::vector<bool>&) { return random.uniform(); });
  for (HiddenAnswer& row : table.rows) {
    row.output = random.normal();
    row.keeps_label = random.uniform() < 0.5;
  }
  table.rows.back().keeps_label = true;
  return table;
}

AnswerTable sum_of_terms(const ScoreList& terms) {
  return AnswerTable::of(static_cast<int64_t>(terms.size()), [&](const std::vector<bool>& visible) {
    double sum = 0.25;
    for (size_t i = 0; i < terms.size(); ++i) sum += visible[i] ? terms[i] : 0;
    return sum;
  });
}

ScoreList random_scores(int64_t players, uint32_t seed) {
  NumpyRandom random(seed);
  ScoreList scores;
  for (int64_t i = 0; i < players; ++i) scores.push_back(random.normal());
  return scores;
}

ScoreList scaled(ScoreList scores, double factor) {
  for (double& score : scores) score *= factor;
  return scores;
}

// Scores with this ranking.
ScoreList scores_of(const Ranking& ranking) {
  ScoreList scores(ranking.size());
  for (size_t i = 0; i < ranking.size(); ++i) {
    scores[ranking[i]] = -static_cast<double>(i);
  }
  return scores;
}

std::vector<Ranking> all_rankings(int64_t players) {
  std::vector<Ranking> all;
  Ranking ranking(players);
  std::iota(ranking.begin(), ranking.end(), 0);
  do all.push_back(ranking);
  while (std::next_permutation(ranking.begin(), ranking.end()));
  return all;
}

double drop_without(const AnswerTable& table, const ScoreList& scores, int64_t size) {
  HiddenAnswers answers = table.answers();
  return answers.complete(
      [&] { return mean_drop_without(descending_order(scores), std::vector{size}, answers); });
}

double drop_with_only(const AnswerTable& table, const ScoreList& scores, int64_t size) {
  HiddenAnswers answers = table.answers();
  return answers.complete(
      [&] { return mean_drop_with_only(descending_order(scores), std::vector{size}, answers); });
}

// Metrics that read no region.
std::vector<const Metric*> measuring_metrics() {
  std::vector<const Metric*> all;
  for (const MetricInfo& info : metrics()) {
    const Metric& metric = find_metric(info.name);
    if (metric.measure != nullptr) all.push_back(&metric);
  }
  return all;
}

// Pearson's statistic of counts that should be equal.
double chi_square(const std::vector<double>& counts) {
  const double expected =
      std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double sum = 0;
  for (const double count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(MetricInvariants, HidingEverythingIsTheWholeDropAndKeepingEverythingNone) {
  for (const int64_t players : {1, 4, 7}) {
    const AnswerTable table = random_table(players, 1);
    const ScoreList scores = random_scores(players, 2);
    EXPECT_EQ(drop_without(table, scores, players),
              table.rows.back().value - table.rows.front().value);
    EXPECT_EQ(drop_with_only(table, scores, players), 0);
  }
}

TEST(MetricInvariants, SufficiencyIsComprehensivenessOfTheReversedRanking) {
  const int64_t players = 7;
  const AnswerTable table = random_table(players, 3);
  const ScoreList scores = random_scores(players, 4), reversed = scaled(scores, -1);
  for (int64_t size = 1; size < players; ++size) {
    EXPECT_EQ(drop_with_only(table, scores, size), drop_without(table, reversed, players - size));
  }
}

TEST(MetricInvariants, DeletionIsTheMirroredInsertionOfTheReversedRanking) {
  for (const int64_t players : {1, 2, 6}) {
    const AnswerTable table = random_table(players, 5);
    const ScoreList scores = random_scores(players, 6), reversed = scaled(scores, -1);
    const Ranking first = descending_order(scores), last = descending_order(reversed);
    for (int64_t size = 0; size <= players; ++size) {
      EXPECT_EQ(hide_first(first, size), hide_rest(last, players - size));
    }
    EXPECT_NEAR(*measured(kDeletion, scores, table), *measured(kInsertion, reversed, table), 1e-15);
  }
}

TEST(MetricInvariants, RandomRankingsHaveTheMeanOfAllOrders) {
  constexpr int64_t kDraws = 12000;
  const AnswerTable table = random_table(5, 7);
  std::map<Ranking, double> values, counts;
  double mean = 0;
  for (const Ranking& ranking : all_rankings(5)) {
    values[ranking] = *measured(kComprehensiveness, scores_of(ranking), table);
    counts[ranking] = 0;
    mean += values[ranking] / 120;
  }
  double sum = 0, squares = 0;
  for (int64_t number = 0; number < kDraws; ++number) {
    const Ranking ranking = random_ranking(5, 8, number);
    counts.at(ranking) += 1;
    sum += values[ranking];
    squares += values[ranking] * values[ranking];
  }
  const double found = sum / kDraws, error = std::sqrt((squares / kDraws - found * found) / kDraws);
  EXPECT_GT(error, 0);
  EXPECT_NEAR(found, mean, 3.3 * error);
  std::vector<double> drawn_counts;
  for (const auto& [ranking, count] : counts) drawn_counts.push_back(count);
  EXPECT_LT(chi_square(drawn_counts), 173.6);  // 99.9 % of 119 degrees of freedom
}

TEST(MetricInvariants, SubsetsOfOneSizeAreDrawnAlike) {
  std::map<HiddenAnswers::Hidden, double> counts;
  for (int64_t number = 0; number < 4000; ++number) {
    const HiddenAnswers::Hidden subset = random_subset(6, 3, 9, number);
    ASSERT_EQ(std::count(subset.begin(), subset.end(), true), 3);
    counts[subset] += 1;
  }
  ASSERT_EQ(counts.size(), 20u);
  std::vector<double> numbers;
  for (const auto& [subset, count] : counts) numbers.push_back(count);
  EXPECT_LT(chi_square(numbers), 43.8);  // 99.9 % of 19 degrees of freedom
}

TEST(MetricInvariants, SizesOfSubsetsAreDrawnAlikeAndSubsetsOfASizeToo) {
  const int64_t players = 4;
  const ScoreList ones(players, 1.0), bits{1, 2, 4, 8};
  AnswerTable table = random_table(players, 10);
  HiddenAnswers answers = table.answers();
  const Evidence sizes{.scores = ones, .answers = answers, .seed = 11},
      subsets{.scores = bits, .answers = answers, .seed = 11};
  std::vector<double> of_size(players, 0.0);
  for (const SubsetDrop& one : drops_over_all_sizes(sizes, 8000)) {
    of_size.at(static_cast<size_t>(one.promised) - 1) += 1;
  }
  EXPECT_LT(chi_square(of_size), 16.3);  // 99.9 % of 3 degrees of freedom
  // A subset of a size with s subsets has the probability 1 / (4 s).
  std::vector<double> per_share(16, 0.0);
  for (const SubsetDrop& one : drops_over_all_sizes(subsets, 8000)) {
    const auto subset = static_cast<unsigned>(one.promised);
    const double choices[] = {1, 4, 6, 4, 1};
    per_share.at(subset) += choices[std::popcount(subset)];
  }
  for (size_t subset = 1; subset < per_share.size(); ++subset) {
    EXPECT_NEAR(per_share[subset], 2000, 400) << subset;  // about four deviations
  }
}

TEST(MetricInvariants, ExactTermsOfASumHaveTheBestPathsOfAllRankings) {
  const ScoreList terms{0.5, -1, 0.25, 2, -0.125, 1};
  const AnswerTable table = sum_of_terms(terms);
  for (const Metric* metric : {&kComprehensiveness, &kSufficiency, &kDeletion, &kInsertion}) {
    const double own = *measured(*metric, terms, table);
    double worst = own;
    for (const Ranking& ranking : all_rankings(6)) {
      const double other = *measured(*metric, scores_of(ranking), table);
      const bool higher = metric->info.higher_is_better;
      EXPECT_GE(higher ? own : -own, (higher ? other : -other) - 1e-12) << metric->info.name;
      worst = higher ? std::min(worst, other) : std::max(worst, other);
    }
    EXPECT_GT(std::abs(own - worst), 0.5) << metric->info.name;
  }
}

TEST(MetricInvariants, ExactTermsOfASumHaveNoErrorAndPerfectCorrelations) {
  const ScoreList terms{0.5, -1, 0.25, 2, -0.125, 1};
  const AnswerTable table = sum_of_terms(terms);
  EXPECT_EQ(*measured(kInfidelity, terms, table), 0);
  EXPECT_EQ(*measured(kScaledInfidelity, terms, table), 0);
  EXPECT_EQ(*measured(kCompleteness, terms, table), 0);
  EXPECT_EQ(*measured(kNonSensitivity, terms, table), 0);
  for (const Metric* metric : {&kFaithfulnessCorrelation, &kFaithfulnessEstimate, &kSensitivityN,
                               &kMonotonicityCorrelation}) {
    EXPECT_NEAR(*measured(*metric, terms, table), 1, 1e-12) << metric->info.name;
  }
  EXPECT_GT(*measured(kInfidelity, scaled(terms, 2), table), 0.1);
  EXPECT_EQ(*measured(kScaledInfidelity, scaled(terms, 2), table), 0);
}

TEST(MetricInvariants, ScoresThatNeverChangeAreNotSensitive) {
  const ScoreList scores{1, -2, 3};
  const MeasureOptions same{.noisy = {{scores, 0.1}, {scores, 0.2}}},
      other{.noisy = {{scores, 0.1}, {{1, -2, 4}, 0.2}}};
  const AnswerTable table = random_table(3, 12);
  EXPECT_EQ(*measured(kMaxSensitivity, scores, table, same), 0);
  EXPECT_EQ(*measured(kLocalLipschitz, scores, table, same), 0);
  EXPECT_DOUBLE_EQ(*measured(kMaxSensitivity, scores, table, other), 1 / std::sqrt(14.0));
  EXPECT_DOUBLE_EQ(*measured(kLocalLipschitz, scores, table, other), 5);
}

TEST(MetricInvariants, ComplexityAndSparsenessStayWithinTheirBounds) {
  for (int64_t players = 1; players <= 9; ++players) {
    const AnswerTable table{.players = players};
    const auto count = static_cast<double>(players);
    ScoreList one(players, 0.0);
    one[players / 2] = -3;
    const ScoreList even(players, 0.5);
    EXPECT_EQ(*measured(kComplexity, one, table), 0);
    EXPECT_NEAR(*measured(kSparseness, one, table), 1 - 1 / count, 1e-15);
    EXPECT_EQ(*measured(kEffectiveComplexity, one, table), 1);
    EXPECT_NEAR(*measured(kComplexity, even, table), std::log(count), 1e-14);
    EXPECT_NEAR(*measured(kSparseness, even, table), 0, 1e-15);
    EXPECT_EQ(*measured(kEffectiveComplexity, even, table), count);
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const ScoreList scores = random_scores(players, seed);
      const double entropy = *measured(kComplexity, scores, table),
                   gini = *measured(kSparseness, scores, table);
      EXPECT_TRUE(entropy >= 0 && entropy <= std::log(count) + 1e-14) << entropy;
      EXPECT_TRUE(gini >= -1e-15 && gini <= 1 - 1 / count + 1e-15) << gini;
    }
  }
}

TEST(MetricInvariants, PositiveScaleMattersOnlyWhereScoresHaveTheUnitOfTheAnswer) {
  const AnswerTable table = random_table(6, 13);
  const ScoreList scores = random_scores(6, 14);
  const MeasureOptions noise{.noisy = {{random_scores(6, 15), 0.5}}};
  for (const Metric* metric : measuring_metrics()) {
    const double own = *measured(*metric, scores, table, noise);
    for (const double factor : {1.0 / 1024, 4096.0}) {
      MeasureOptions larger = noise;
      larger.noisy[0].scores = scaled(noise.noisy[0].scores, factor);
      const double found = *measured(*metric, scaled(scores, factor), table, larger);
      if (metric == &kInfidelity || metric == &kCompleteness) {
        EXPECT_NE(found, own) << metric->info.name;
      } else if (metric == &kLocalLipschitz) {
        EXPECT_EQ(found, factor * own);
      } else {
        EXPECT_EQ(found, own) << metric->info.name;
      }
    }
  }
}

TEST(MetricInvariants, TiesAreOrderedByIndex) {
  const AnswerTable table = random_table(6, 16);
  const ScoreList ties{1, 2, 1, 2, 1, 1}, downwards{1.4, 2.4, 1.3, 2.3, 1.2, 1.1},
      upwards{1.1, 2.1, 1.2, 2.2, 1.3, 1.4};
  for (const Metric* metric :
       {&kComprehensiveness, &kSufficiency, &kDeletion, &kInsertion, &kPositivePerturbation,
        &kNegativePerturbation, &kKeepPositive, &kRemovePositive}) {
    // The one begins with the lowest.
    const bool from_below = metric == &kNegativePerturbation;
    const double by_index = *measured(*metric, from_below ? upwards : downwards, table),
                 otherwise = *measured(*metric, from_below ? downwards : upwards, table);
    EXPECT_EQ(*measured(*metric, ties, table), by_index) << metric->info.name;
    EXPECT_NE(by_index, otherwise) << metric->info.name;
  }
  // Shown first, player 0 raises the answer and player 1 lowers it.
  const AnswerTable two = AnswerTable::of(2, [](const std::vector<bool>& visible) {
    return visible[0] ? (visible[1] ? 2.0 : 1.0) : (visible[1] ? -1.0 : 0.0);
  });
  EXPECT_EQ(measured(kMonotonicity, {1, 1}, two), 1);
  EXPECT_EQ(measured(kMonotonicity, {-1, 1}, two), 1);
  EXPECT_EQ(measured(kMonotonicity, {2, 1}, two), 0);
}

// One unit, equal scores, zeros, and a model that always says the same.
TEST(MetricInvariants, ValuesAreNumbersOrNothing) {
  std::vector<AnswerTable> tables{random_table(1, 17), random_table(2, 18), random_table(5, 19)};
  tables.push_back(AnswerTable::of(5, [](const std::vector<bool>&) { return 0.5; }));
  tables.push_back(AnswerTable::of(1, [](const std::vector<bool>&) { return 0.0; }));
  for (const AnswerTable& table : tables) {
    const auto players = static_cast<size_t>(table.players);
    for (const ScoreList& scores : {ScoreList(players, 0.0), ScoreList(players, 0.1),
                                    ScoreList(players, -2.0), random_scores(table.players, 20)}) {
      for (const Metric* metric : measuring_metrics()) {
        for (const auto& noisy : {std::vector<NoisyScores>{}, {{scores, 0.0}}, {{scores, 1.0}}}) {
          const auto found = measured(*metric, scores, table, {.noisy = noisy});
          EXPECT_TRUE(!found || std::isfinite(*found)) << metric->info.name;
        }
      }
    }
  }
}

TEST(MetricInvariants, WhatCannotBeSaidIsNothing) {
  const AnswerTable table = random_table(5, 21),
                    without_labels = AnswerTable::of(5, [](const auto& visible) {
                      return static_cast<double>(std::count(visible.begin(), visible.end(), true));
                    });
  const ScoreList equal(5, 1.0), zeros(5, 0.0), scores = random_scores(5, 22);
  for (const Metric* metric : {&kFaithfulnessCorrelation, &kFaithfulnessEstimate, &kSensitivityN,
                               &kMonotonicityCorrelation}) {
    EXPECT_FALSE(measured(*metric, equal, table)) << metric->info.name;
  }
  for (const Metric* metric : {&kComplexity, &kSparseness, &kScaledInfidelity}) {
    EXPECT_FALSE(measured(*metric, zeros, table)) << metric->info.name;
  }
  for (const Metric* metric : {&kPositivePerturbation, &kNegativePerturbation}) {
    EXPECT_TRUE(measured(*metric, scores, table)) << metric->info.name;
    EXPECT_FALSE(measured(*metric, scores, without_labels)) << metric->info.name;
  }
  for (const Metric* metric : {&kMaxSensitivity, &kLocalLipschitz}) {
    EXPECT_FALSE(measured(*metric, scores, table)) << metric->info.name;
  }
}

TEST(MetricInvariants, NoisyScoresThatAreNotNumbersAreNotPassedOver) {
  const ScoreList scores{1, 2}, gap{1, std::numeric_limits<double>::quiet_NaN()};
  const AnswerTable table = random_table(2, 23);
  for (const Metric* metric : {&kMaxSensitivity, &kLocalLipschitz}) {
    for (const auto& noisy :
         {std::vector<NoisyScores>{{gap, 1.0}, {scores, 1.0}}, {{scores, 1.0}, {gap, 1.0}}}) {
      EXPECT_FALSE(measured(*metric, scores, table, {.noisy = noisy})) << metric->info.name;
    }
  }
}

TEST(MetricInvariants, SharesOfUnitsAreExactWhereDecimalsAreNot) {
  // 0.7 · 90 is below 63 in floating point.
  std::set<int64_t> sizes;
  HiddenAnswers answers(90, [&](const std::vector<HiddenAnswers::Hidden>& questions) {
    for (const auto& one : questions) sizes.insert(std::count(one.begin(), one.end(), true));
    return std::vector<HiddenAnswer>(questions.size());
  });
  const ScoreList scores = random_scores(90, 24);
  const Evidence evidence{.scores = scores, .answers = answers};
  answers.complete([&] { return kSensitivityN.measure(evidence); });
  EXPECT_EQ(sizes, (std::set<int64_t>{0, 9, 27, 45, 63, 81}));
}

TEST(MetricInvariants, EraserSizesAreRoundedSharesAndAtLeastOne) {
  for (int64_t players = 1; players <= 3000; ++players) {
    const std::vector<int64_t> sizes = eraser_sizes(players);
    const std::vector<int64_t> percents{1, 5, 10, 20, 50};
    ASSERT_EQ(sizes.size(), percents.size());
    for (size_t i = 0; i < sizes.size(); ++i) {
      int64_t rounded = percents[i] * players / 100;
      const int64_t rest = percents[i] * players % 100;
      if (rest > 50 || (rest == 50 && rounded % 2 == 1)) ++rounded;
      EXPECT_EQ(sizes[i], std::max<int64_t>(1, rounded)) << players << " units";
    }
  }
}

TEST(MetricInvariants, PathsGoFromNothingToEverythingInAtMost256Steps) {
  for (const int64_t players : {1, 2, 255, 256, 257, 512, 513, 100000}) {
    const std::vector<int64_t> sizes = path_sizes(players);
    EXPECT_EQ(sizes.front(), 0);
    EXPECT_EQ(sizes.back(), players);
    EXPECT_LE(sizes.size(), 257u);
    EXPECT_TRUE(std::adjacent_find(sizes.begin(), sizes.end(), std::greater_equal()) ==
                sizes.end());
    if (players <= 256) {
      EXPECT_EQ(static_cast<int64_t>(sizes.size()), players + 1);
    }
  }
}

TEST(HiddenAnswers, AsksEachQuestionOnceAndAllTogether) {
  const AnswerTable table = random_table(5, 25);
  std::map<HiddenAnswers::Hidden, int64_t> asked;
  int64_t batches = 0;
  HiddenAnswers answers(5, [&](const std::vector<HiddenAnswers::Hidden>& questions) {
    ++batches;
    std::vector<HiddenAnswer> found;
    for (const auto& one : questions) {
      ++asked[one];
      found.push_back(table(one));
    }
    return found;
  });
  const ScoreList scores = random_scores(5, 26);
  const Evidence evidence{.scores = scores, .answers = answers};
  const auto both = answers.complete(
      [&] { return std::pair(kDeletion.measure(evidence), kComprehensiveness.measure(evidence)); });
  EXPECT_EQ(both.first, measured(kDeletion, scores, table));
  EXPECT_EQ(both.second, measured(kComprehensiveness, scores, table));
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(asked.size(), 6u);  // comprehensiveness reads the same path
  EXPECT_EQ(answers.asked(), 6);
  for (const auto& [question, count] : asked) EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace whyformer
