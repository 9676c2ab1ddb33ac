// What must hold for every measure of agreement.
#include <gtest/gtest.h>

#include <cmath>

#include "base/numpy_random.h"
#include "whyformer/method_agreement.h"

namespace whyformer {
namespace {

using Values = std::vector<double>;

Values drawn_normal_scores(size_t count, uint32_t seed) {
  NumpyRandom random(seed);
  Values values;
  for (size_t i = 0; i < count; ++i) values.push_back(random.normal());
  return values;
}

void expect_same_agreement(const AgreementValues& a, const AgreementValues& b) {
  for (size_t measure = 0; measure < a.size(); ++measure) {
    ASSERT_TRUE(a[measure] && b[measure]);
    EXPECT_NEAR(*a[measure], *b[measure], 1e-12) << kAgreementMeasures[measure];
  }
}

TEST(AgreementOfScores, IsSymmetric) {
  const Values a = drawn_normal_scores(17, 1), b = drawn_normal_scores(17, 2);
  expect_same_agreement(agreement_of(a, b, {}, {}), agreement_of(b, a, {}, {}));
}

// Without ties the order in which units are listed says nothing.
TEST(AgreementOfScores, TheSamePermutationOfBothSidesChangesNothing) {
  const Values a = drawn_normal_scores(17, 3), b = drawn_normal_scores(17, 4);
  Values moved_a, moved_b;
  for (size_t i = 0; i < a.size(); ++i) {
    moved_a.push_back(a[i * 5 % 17]);
    moved_b.push_back(b[i * 5 % 17]);
  }
  expect_same_agreement(agreement_of(a, b, {}, {}), agreement_of(moved_a, moved_b, {}, {}));
  const AgreementValues one_side = agreement_of(moved_a, b, {}, {});
  EXPECT_GT(std::abs(*one_side[0] - *agreement_of(a, b, {}, {})[0]), 1e-3);
}

// A cube keeps the order, the sign and the order of magnitudes.
TEST(AgreementOfScores, MonotoneTransformsThatKeepSignsChangeNothing) {
  const Values a = drawn_normal_scores(17, 5), b = drawn_normal_scores(17, 6);
  Values cubes;
  for (const double score : a) cubes.push_back(score * score * score);
  expect_same_agreement(agreement_of(a, b, {}, {}), agreement_of(cubes, b, {}, {}));
}

TEST(AgreementOfScores, WithItselfIsOneAndWithItsNegativeTheOpposite) {
  const Values a = drawn_normal_scores(17, 7);
  Values negative;
  for (const double score : a) negative.push_back(-score);
  const AgreementValues self = agreement_of(a, a, {}, {});
  const AgreementValues opposite = agreement_of(a, negative, {}, {});
  for (const auto& value : self) EXPECT_NEAR(*value, 1, 1e-12);
  const double expected[] = {-1, -1, 0, 0, *opposite[4], 0};
  for (size_t measure = 0; measure < self.size(); ++measure) {
    EXPECT_NEAR(*opposite[measure], expected[measure], 1e-12) << kAgreementMeasures[measure];
  }
  EXPECT_LT(*opposite[4], 0.5);  // lists of all units share their end
}

TEST(AgreementOfScores, RankBiasedOverlapLooksDeeperWhereThereAreManyUnits) {
  const size_t rbo = 4;
  for (const auto& [units, persistence] : {std::pair(size_t{49}, 0.9), {size_t{50}, 0.98}}) {
    const Values a = drawn_normal_scores(units, 8), b = drawn_normal_scores(units, 9);
    EXPECT_EQ(*agreement_of(a, b, {}, {})[rbo], rank_biased_overlap(a, b, persistence)) << units;
    EXPECT_EQ(*agreement_of(a, b, {}, {.persistence = 0.5})[rbo], rank_biased_overlap(a, b, 0.5));
  }
}

TEST(AgreementOfInputs, OneUnitAloneIsNotCalledScoresThatAreAlike) {
  const auto input_with = [](const Values& a, const Values& b) {
    return AgreementInput{.name = "input",
                          .methods = {"a", "b"},
                          .is_signed = {true, true},
                          .scores = {a, b},
                          .again = {{}, {}}};
  };
  const AgreementReport report = summarise(
      {}, {input_with({1}, {2}), input_with({1, 1}, {1, 2}), input_with({1, 3}, {1, 2})}, {});
  const AgreementCell& cell = report.pairs[0][1][0];
  EXPECT_EQ(cell.one_unit, 1);
  EXPECT_EQ(cell.left_out, 1);
  EXPECT_EQ(cell.inputs, 1);
}

}  // namespace
}  // namespace whyformer
