// What must hold for concept tests, whatever the model.
#include "studies/concepts/layer_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/parallel.h"
#include "studies/concepts/corrections.h"
#include "studies/concepts/statistics.h"
#include "tests/support/concepts_test_helpers.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kWidth = 24;

// 20 examples of a planted concept (moved along the first axis), 20 of none, 60 random ones, and 30
// gradients that point along the first axis.
struct Planted {
  TestRows x = normal_rows(100, kWidth, "planted");
  TestRows g = normal_rows(30, kWidth, "planted gradients");
  LayerTestSets sets{{numbered(0, 20), numbered(20, 20)}, {numbered(40, 60)}};

  explicit Planted(double shift = 5, double slope = 2) {
    for (int64_t i = 0; i < 20; ++i) x.numbers[i * kWidth] += static_cast<float>(shift);
    for (int64_t i = 0; i < 30; ++i) g.numbers[i * kWidth] += static_cast<float>(slope);
  }
  InnerProducts products() const { return inner_products(x.view(), g.view()); }
};

ConceptTestSettings settings(int counterparts = 20, int permutations = 199, int64_t seed = 0) {
  return {.counterparts = counterparts, .permutations = permutations, .jobs = {.seed = seed}};
}

TEST(ConceptInvariants, DirectionOfTheMeanGradientScoresOneAndItsOppositeZero) {
  TestRows g = normal_rows(12, 8, "near");
  for (float& number : g.numbers) number = 0.1F * number + 1;  // every gradient near (1, …, 1)
  TestRows x{2, 8, std::vector<float>(16, 0)};
  for (int64_t i = 0; i < 12; ++i) {
    for (int64_t j = 0; j < 8; ++j) {
      x.numbers[j] += g.row(i)[j];
      x.numbers[8 + j] -= g.row(i)[j];
    }
  }
  const InnerProducts products = inner_products(x.view(), g.view());
  const Cav along{.rows = {0}, .weights = {1}, .length = 1},
      against{.rows = {1}, .weights = {1}, .length = 1};
  EXPECT_EQ(sensitivity_to(products, along, {0, 12}).score, 1);
  EXPECT_EQ(sensitivity_to(products, against, {0, 12}).score, 0);
}

TEST(ConceptInvariants, BothWaysRoundAndZerosAddUpToOne) {
  Planted planted(0.5, 0.3);
  std::fill_n(planted.g.numbers.begin(), 2 * kWidth, 0.0F);  // two examples that nothing moves
  const InnerProducts products = planted.products();
  const TargetRange target{0, 30};
  for (int64_t first = 0; first < 80; first += 20) {
    const ExampleRows a = numbered(first, 20), b = numbered(first + 20, 20);
    const Sensitivity one = sensitivity_to(products, fit_cav(products.gram, a, b), target);
    const Sensitivity other = sensitivity_to(products, fit_cav(products.gram, b, a), target);
    EXPECT_EQ(one.zero, 2.0 / 30);
    EXPECT_NEAR(one.score + other.score + one.zero, 1, 1e-15);
    EXPECT_NEAR(one.magnitude, -other.magnitude, 1e-8);
    EXPECT_NEAR(one.unit_magnitude, -other.unit_magnitude, 1e-8);
  }
}

TEST(ConceptInvariants, RescalingADirectionChangesTheMagnitudeOnly) {
  const Planted planted(0.5, 0.3);
  const InnerProducts products = planted.products();
  Cav cav = fit_cav(products.gram, planted.sets.concepts[0], planted.sets.concepts[1]);
  const Sensitivity before = sensitivity_to(products, cav, {0, 30});
  for (double& weight : cav.weights) weight *= 8;
  cav.length *= 8;
  const Sensitivity after = sensitivity_to(products, cav, {0, 30});
  EXPECT_EQ(after.score, before.score);
  EXPECT_DOUBLE_EQ(after.magnitude, 8 * before.magnitude);
  EXPECT_DOUBLE_EQ(after.unit_magnitude, before.unit_magnitude);
}

TEST(ConceptInvariants, ALinearModelScoresZeroOrOne) {
  Planted planted;
  for (int64_t i = 1; i < 30; ++i) {
    std::copy_n(planted.g.numbers.begin(), kWidth, planted.g.numbers.begin() + i * kWidth);
  }
  const LayerTests found = test_layer(planted.products(), {{0, 30}}, planted.sets, settings(20, 0));
  for (const ConceptTest& test : found.tests[0]) {
    for (const std::vector<double>& scores : {test.scores, test.random_scores}) {
      for (const double score : scores) EXPECT_TRUE(score == 0 || score == 1) << score;
    }
  }
}

TEST(ConceptInvariants, PermutationTestsOfAConceptLikeTheRandomOnesAreUniform) {
  constexpr int kRepeats = 200;
  std::vector<double> score_p, magnitude_p;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const TestRows x = normal_rows(36, 10, "null", repeat);
    TestRows g = normal_rows(9, 10, "null gradients", repeat);
    for (int64_t i = 0; i < 9; ++i) g.numbers[i * 10] += 0.5F;
    const LayerTestSets sets{{numbered(0, 12)}, {numbered(12, 24)}};
    const LayerTests found =
        test_layer(inner_products(x.view(), g.view()), {{0, 9}}, sets, settings(2, 99, repeat));
    score_p.push_back(found.tests[0][0].score_permutation->p);
    magnitude_p.push_back(found.tests[0][0].magnitude_permutation->p);
  }
  // Kolmogorov–Smirnov at the 1 % level: 1.63 / √200 = 0.115. Scores have ties, whose p is only
  // ever larger.
  std::sort(score_p.begin(), score_p.end());
  std::sort(magnitude_p.begin(), magnitude_p.end());
  for (int i = 0; i < kRepeats; ++i) {
    EXPECT_GT(magnitude_p[i], (i + 1.0) / kRepeats - 0.115);
    EXPECT_LT(magnitude_p[i], i / static_cast<double>(kRepeats) + 0.125);  // and the step of 1/100
    EXPECT_GT(score_p[i], (i + 1.0) / kRepeats - 0.115);
  }
}

TEST(ConceptTests, FindAPlantedConceptAndRefuseOneThatIsNone) {
  const Planted planted;
  LayerTests found = test_layer(planted.products(), {{0, 30}}, planted.sets, settings());
  judge(found.tests[0], 0.05);
  const ConceptTest &concept_test = found.tests[0][0], &none = found.tests[0][1];
  EXPECT_EQ(concept_test.verdict, Verdict::kSignificant);
  EXPECT_GT(concept_test.held_out.accuracy, 0.85);
  EXPECT_GT(concept_test.mean.score, 0.9);
  EXPECT_LT(concept_test.t_test->bonferroni, 0.01);
  EXPECT_EQ(concept_test.magnitude_permutation->p, 0.005);  // 1 of 200: none is as far out
  EXPECT_EQ(none.verdict, Verdict::kNotLearnt);
  EXPECT_LT(none.held_out.accuracy, 0.65);
}

TEST(ConceptTests, TurnedGradientsTurnTheScore) {
  const Planted planted(5, -2);
  const LayerTests found = test_layer(planted.products(), {{0, 30}}, planted.sets, settings(20, 0));
  EXPECT_LT(found.tests[0][0].mean.score, 0.1);
  EXPECT_LT(found.tests[0][0].mean.unit_magnitude, 0);
}

TEST(ConceptTests, EachTargetHasItsOwnScores) {
  Planted planted;
  for (int64_t i = 15; i < 30; ++i) {
    for (int64_t j = 0; j < kWidth; ++j) planted.g.numbers[i * kWidth + j] *= -1;
  }
  const InnerProducts products = planted.products();
  const LayerTests both = test_layer(products, {{0, 15}, {15, 15}}, planted.sets, settings(5, 9));
  const LayerTests second = test_layer(products, {{15, 15}}, planted.sets, settings(5, 9));
  EXPECT_GT(both.tests[0][0].mean.score, 0.9);
  EXPECT_LT(both.tests[1][0].mean.score, 0.1);
  EXPECT_EQ(both.tests[1][0].scores, second.tests[0][0].scores);
  EXPECT_EQ(both.pairs[1][0].sensitivity.magnitude, second.pairs[0][0].sensitivity.magnitude);
}

TEST(ConceptTests, UseGivenSetsAsTheyAre) {
  Planted planted;
  planted.sets.random = {numbered(40, 15), numbered(55, 15), numbered(70, 15), numbered(85, 15)};
  const LayerTests found = test_layer(planted.products(), {{0, 30}}, planted.sets, settings(0, 0));
  EXPECT_EQ(found.tests[0][0].scores.size(), 4u);
  EXPECT_EQ(found.tests[0][0].random_scores.size(), 2u);  // the first two and the last two
  EXPECT_EQ(found.tests[0][0].set_size, 15);
  planted.sets.random.pop_back();
  EXPECT_THROW(test_layer(planted.products(), {{0, 30}}, planted.sets, settings(0, 0)),
               InvalidInput);
}

TEST(ConceptTests, AreUndefinedWhereNoScoreVaries) {
  Planted planted;
  std::fill(planted.g.numbers.begin(), planted.g.numbers.end(), 0.0F);
  LayerTests found = test_layer(planted.products(), {{0, 30}}, planted.sets, settings(5, 9));
  judge(found.tests[0], 0.05);
  EXPECT_EQ(found.tests[0][0].verdict, Verdict::kUndefined);
  EXPECT_FALSE(found.tests[0][0].t_test);
  EXPECT_EQ(found.tests[0][0].magnitude_permutation->p, 1);
}

TEST(ConceptTests, DoNotDependOnTheNumberOfThreads) {
  const Planted planted;
  const InnerProducts products = planted.products();
  const int before = thread_count();
  set_thread_count(1);
  const LayerTests one = test_layer(products, {{0, 30}}, planted.sets, settings(7, 50));
  set_thread_count(3);
  const LayerTests three = test_layer(products, {{0, 30}}, planted.sets, settings(7, 50));
  set_thread_count(before);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(one.tests[0][i].scores, three.tests[0][i].scores);
    EXPECT_EQ(one.tests[0][i].mean.magnitude, three.tests[0][i].mean.magnitude);
    EXPECT_EQ(one.tests[0][i].magnitude_permutation->p, three.tests[0][i].magnitude_permutation->p);
  }
}

TEST(ConceptTests, CountTheirFits) {
  const Planted planted;
  int64_t fits = 0;
  ConceptTestSettings counting = settings(7, 50);
  counting.jobs.done = [&](int64_t some) { fits += some; };
  test_layer(planted.products(), {{0, 30}}, planted.sets, counting);
  EXPECT_EQ(fits, 2 * (7 + 50) + 7 + 1);
  EXPECT_EQ(fit_count(planted.sets, counting), fits);
}

TEST(ConceptTests, RefuseSetsThatAreTooSmall) {
  Planted planted;
  planted.sets.concepts[0].resize(5);
  EXPECT_THROW(test_layer(planted.products(), {{0, 30}}, planted.sets, settings()), InvalidInput);
  planted = Planted();
  planted.sets.random[0].resize(11);
  EXPECT_THROW(test_layer(planted.products(), {{0, 30}}, planted.sets, settings()), InvalidInput);
}

// As many random examples as the concept has: drawn whole, every counterpart would be the same set.
TEST(ConceptTests, DrawCounterpartsThatDiffer) {
  Planted planted(0.5, 0.3);
  planted.sets.random[0].resize(20);
  const LayerTests found = test_layer(planted.products(), {{0, 30}}, planted.sets, settings(20, 0));
  const ConceptTest& test = found.tests[0][0];
  EXPECT_EQ(test.set_size, 10);  // half of the random examples
  EXPECT_EQ(test.scores.size(), 20u);
  EXPECT_EQ(test.random_scores.size(), 20u);
  std::set<double> different(test.scores.begin(), test.scores.end());
  EXPECT_GT(different.size(), 3u);
  EXPECT_GT(test.deviation, 0.01);
  EXPECT_EQ(fit_count(planted.sets, settings(20, 0)), 2 * 20 + 20 + 1);
}

// One set, given four times over under other names.
TEST(ConceptTests, CountAGivenSetOnceHoweverOftenItIsGiven) {
  Planted planted;
  for (int64_t copy = 1; copy < 4; ++copy) {
    std::copy_n(planted.x.numbers.begin() + 40 * kWidth, 15 * kWidth,
                planted.x.numbers.begin() + (40 + copy * 15) * kWidth);
  }
  planted.sets = {{numbered(0, 15)},
                  {numbered(40, 15), numbered(55, 15), numbered(70, 15), numbered(85, 15)}};
  LayerTests found = test_layer(planted.products(), {{0, 30}}, planted.sets, settings(0, 0));
  judge(found.tests[0], 0.05);
  const ConceptTest& test = found.tests[0][0];
  EXPECT_EQ(test.scores.size(), 1u);
  EXPECT_TRUE(std::isnan(test.deviation));
  EXPECT_EQ(test.verdict, Verdict::kUndefined);
  EXPECT_FALSE(test.t_test);
}

// 30 examples that all agree are no proof that all others would.
TEST(ConceptTests, AScoreOfOneHasAnError) {
  const Planted planted(5, 20);
  const LayerTests found = test_layer(planted.products(), {{0, 30}}, planted.sets, settings(5, 0));
  ASSERT_EQ(found.pairs[0][0].sensitivity.score, 1);
  EXPECT_NEAR(found.pairs[0][0].standard_error, std::sqrt(0.5 / 31 * (30.5 / 31) / 30), 1e-12);
}

TEST(HeldOut, TakesEachExampleOnce) {
  const Planted planted;
  const InnerProducts products = planted.products();
  CavOutcome outcome;
  try_held_out(products, {.concept_rows = numbered(0, 20), .counterpart = numbered(40, 13)}, {}, 0,
               outcome);
  EXPECT_EQ(outcome.tries, 33);
  EXPECT_GT(outcome.hits, 25);
}

}  // namespace
}  // namespace whyformer
