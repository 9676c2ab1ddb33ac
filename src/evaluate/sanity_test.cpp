#include "evaluate/sanity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/numpy_random.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(CompareScores, LeavesOutSpecialTokensAndUnitsWithoutAScore) {
  const ScoredUnits units{.special = {true, false, false, false, false, false}};
  // Ranks of the others: 1 2 3 and 3 1 2 by hand; Σd² = 6, ρ = 1 - 6·6/(3·8) = -0.5.
  const std::vector<double> before{9, 1, 2, kNaN, 3, 4}, after{-9, 3, 1, 7, 2, kNaN};
  const ScoreSimilarity found = compare_scores(units, before, after);
  EXPECT_DOUBLE_EQ(*found.signed_scores, -0.5);
  EXPECT_DOUBLE_EQ(*found.magnitudes, -0.5);
  EXPECT_FALSE(found.structure);
  EXPECT_FALSE(found.identical);
}

TEST(CompareScores, TellsSignsFromSizes) {
  const ScoredUnits units{.special = {false, false, false}};
  const std::vector<double> before{1, 2, 3}, after{-1, -2, -3};
  const ScoreSimilarity found = compare_scores(units, before, after);
  EXPECT_DOUBLE_EQ(*found.signed_scores, -1);
  EXPECT_DOUBLE_EQ(*found.magnitudes, 1);
}

TEST(CompareScores, ThatAreTheSameBitByBitAreIdenticalWithUnitsThatHaveNone) {
  const ScoredUnits units{.special = {false, false}};
  const std::vector<double> scores{kNaN, 1}, almost{kNaN, std::nextafter(1.0, 2.0)};
  EXPECT_TRUE(compare_scores(units, scores, scores).identical);
  EXPECT_FALSE(compare_scores(units, scores, almost).identical);
}

TEST(CompareScores, OfConstantScoresHaveNoCorrelation) {
  const ScoredUnits units{.special = {false, false, false}};
  const std::vector<double> before{1, 2, 3}, after{2, 2, 2};
  EXPECT_FALSE(compare_scores(units, before, after).signed_scores);
}

TEST(CompareScores, OfDifferentUnitsAreRefused) {
  EXPECT_THROW(compare_scores({.special = {false, false}}, std::vector{1., 2.}, std::vector{1.}),
               InvalidInput);
}

TEST(CompareScores, OfPicturesTakeTheGridOfPatches) {
  ScoredUnits units{.special = std::vector<bool>(10, false), .patches = {3, 3}, .first_patch = 1};
  units.special[0] = true;
  std::vector<double> scores{5, 1, 2, 3, 4, 5, 6, 7, 8, 9}, negative;
  for (const double x : scores) negative.push_back(-x);
  EXPECT_DOUBLE_EQ(*compare_scores(units, scores, negative).structure, 1);  // of |scores|
}

TEST(Summarise, AveragesWhatIsDefinedAndCountsIt) {
  const std::vector<ScoreSimilarity> inputs{{.magnitudes = 0.5, .signed_scores = -1},
                                            {.magnitudes = 0.25, .identical = true},
                                            {.magnitudes = 0.75, .signed_scores = 0.5}};
  const SanityComparison found = summarise({SanityChange::kIndependent, "layer 1"}, inputs, 3);
  EXPECT_EQ(found.step, "layer 1");
  EXPECT_DOUBLE_EQ(*found.magnitudes.mean, 0.5);
  EXPECT_EQ(found.magnitudes.inputs, 3);
  EXPECT_GE(*found.magnitudes.low, 0.25);
  EXPECT_LE(*found.magnitudes.high, 0.75);
  EXPECT_LT(*found.magnitudes.low, *found.magnitudes.high);
  EXPECT_DOUBLE_EQ(*found.signed_scores.mean, -0.25);
  EXPECT_EQ(found.signed_scores.inputs, 2);
  EXPECT_FALSE(found.structure.mean);
  EXPECT_EQ(found.inputs, 3);
  EXPECT_EQ(found.identical, 1);
}

// Spearman's correlation of n independent scores has the variance 1 / (n - 1), so its mean over
// inputs has the deviation 1 / sqrt(inputs · (n - 1)).
TEST(Summarise, OfScoresThatHaveNothingInCommonIsAboutZero) {
  constexpr size_t kInputs = 900, kUnits = 10;
  NumpyRandom random(5);
  const auto draw = [&] {
    std::vector<double> scores;
    for (size_t i = 0; i < kUnits; ++i) scores.push_back(random.normal());
    return scores;
  };
  const ScoredUnits units{.special = std::vector<bool>(kUnits, false)};
  std::vector<ScoreSimilarity> inputs;
  double squares = 0;
  for (size_t i = 0; i < kInputs; ++i) {
    const std::vector<double> before = draw(), after = draw();
    inputs.push_back(compare_scores(units, before, after));
    squares += *inputs.back().signed_scores * *inputs.back().signed_scores;
  }
  const SanityComparison found = summarise({}, inputs, 0);
  const double deviation = 1 / std::sqrt(static_cast<double>(kInputs * (kUnits - 1)));
  EXPECT_NEAR(*found.signed_scores.mean, 0, 4 * deviation);
  EXPECT_NEAR(*found.magnitudes.mean, 0, 4 * deviation);
  EXPECT_NEAR(squares / kInputs, 1.0 / (kUnits - 1), 0.02);  // about four deviations
  EXPECT_EQ(found.identical, 0);
}

TEST(Summarise, OfOneInputHasNoInterval) {
  const std::vector<ScoreSimilarity> inputs{{.magnitudes = 0.5}};
  const SanityComparison found = summarise({}, inputs, 3);
  EXPECT_DOUBLE_EQ(*found.magnitudes.mean, 0.5);
  EXPECT_FALSE(found.magnitudes.low);
}

SanityComparison comparison(SanityChange change, const std::string& step, double similarity,
                            int64_t inputs = 6, int64_t identical = 0) {
  SanityComparison one{.change = change, .step = step};
  one.magnitudes = {.mean = similarity, .inputs = inputs};
  one.signed_scores = {.mean = -similarity, .inputs = inputs};
  one.inputs = inputs;
  one.identical = identical;
  return one;
}

const std::vector<SanityStep> kSteps{{"head", 10}, {"layer 0", 100}, {"embeddings", 50}};

struct Verdicts {
  SanityVerdict on_class, on_weights;
  bool operator==(const Verdicts&) const = default;
};
Verdicts judged(std::vector<SanityComparison> comparisons, bool is_signed = false) {
  MethodSanity method{.is_signed = is_signed, .comparisons = std::move(comparisons)};
  judge(method, kSteps);
  return {method.depends_on_class, method.depends_on_weights};
}

TEST(Judge, FollowsTheRulesOfTheHeader) {
  using enum SanityVerdict;
  constexpr auto kOther = SanityChange::kOtherTarget, kDown = SanityChange::kCascading;
  EXPECT_EQ(judged({comparison(kOther, "", 1, 6, 6), comparison(kDown, "embeddings", 1, 6, 6)}),
            (Verdicts{kNo, kNo}));
  EXPECT_EQ(judged({comparison(kOther, "", 0.9), comparison(kDown, "embeddings", 0.9)}),
            (Verdicts{kPartly, kNo}));
  EXPECT_EQ(judged({comparison(kOther, "", 0.89), comparison(kDown, "embeddings", 0.89)}),
            (Verdicts{kYes, kPartly}));
  EXPECT_EQ(judged({comparison(kOther, "", 0.2), comparison(kDown, "embeddings", 0.49)}),
            (Verdicts{kYes, kYes}));
  EXPECT_EQ(judged({comparison(kDown, "head", 1, 6, 6), comparison(kDown, "embeddings", 0.1)}),
            (Verdicts{kUnknown, kPartly}));
  // Similar sizes, opposite signs: depends on the class for those who look at signs.
  EXPECT_EQ(judged({comparison(kOther, "", 0.99)}, true), (Verdicts{kYes, kUnknown}));
}

TEST(Judge, SaysNothingOnFewInputsUnlessScoresAreTheSame) {
  using enum SanityVerdict;
  constexpr auto kOther = SanityChange::kOtherTarget, kDown = SanityChange::kCascading;
  EXPECT_EQ(judged({comparison(kOther, "", 0.1, 4), comparison(kDown, "embeddings", 0.1, 4)}),
            (Verdicts{kUnknown, kUnknown}));
  EXPECT_EQ(judged({comparison(kOther, "", 1, 1, 1), comparison(kDown, "embeddings", 1, 1, 1)}),
            (Verdicts{kNo, kNo}));
  // One input on which they differ is enough to see that.
  EXPECT_EQ(judged({comparison(kOther, "", 1, 2, 1)}), (Verdicts{kUnknown, kUnknown}));
}

TEST(Judge, WithoutTheWholeCascadeSaysNothingAboutTheWeights) {
  EXPECT_EQ(judged({comparison(SanityChange::kCascading, "layer 0", 0.1)}),
            (Verdicts{SanityVerdict::kUnknown, SanityVerdict::kUnknown}));
}

}  // namespace
}  // namespace whyformer
