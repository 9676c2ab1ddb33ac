#include "report/views/view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/sample_explanations.h"
#include "whyformer/error.h"

namespace whyformer::report {
namespace {

Explanation with_units(const std::string& text, std::vector<Unit> units) {
  Explanation explanation;
  explanation.text = text;
  explanation.units = std::move(units);
  return explanation;
}

std::string joined(const std::vector<TextPiece>& pieces) {
  std::string out;
  for (const TextPiece& piece : pieces) out += piece.gap + "[" + piece.text + "]" + piece.after;
  return out;
}

TEST(Pieces, ShowTheOriginalTextNotTheVocabulary) {
  const Explanation explanation = with_units("So Naïve", {{"[CLS]", 0, 0, true, 0, -1},
                                                          {"so", 0, 2, false, 0, 0},
                                                          {"na", 3, 5, false, 0, 1},
                                                          {"##ive", 5, 8, false, 0, 1}});
  EXPECT_EQ(joined(pieces_of(explanation)), "[[CLS]][So] [Na][ïve]");
}

TEST(Pieces, LeadingBlanksBelongToTheGap) {
  EXPECT_EQ(joined(pieces_of(with_units("a b", {{"a", 0, 1}, {"Ġb", 1, 3}}))), "[a] [b]");
}

TEST(Pieces, TokensThatShareACharacterShowItOnce) {
  EXPECT_EQ(joined(pieces_of(with_units("🤗!", {{"ð", 0, 1}, {"Ł", 0, 1}, {"!", 1, 2}}))),
            "[🤗][·][!]");
}

TEST(Pieces, TextBeyondTheLastTokenIsKeptOrCut) {
  EXPECT_EQ(joined(pieces_of(with_units("one two", {{"one", 0, 3}}))), "[one] two");
  const std::string rest(100, 'x');
  EXPECT_THAT(joined(pieces_of(with_units("one " + rest, {{"one", 0, 3}}))),
              testing::EndsWith("x …"));
}

TEST(Pieces, OffsetsOutsideTheTextAreHarmless) {
  EXPECT_EQ(joined(pieces_of(with_units("ab", {{"a", 0, 1}, {"?", 7, 9}, {"!", -3, -1}}))),
            "[a]b[·][·]");
}

TEST(Items, SpecialTokensStandBetweenTheWordsOnlyWhereShown) {
  const Explanation explanation = documented_sample();
  const auto texts = [&](SpecialTokens special) {
    std::vector<std::string> out;
    for (const Item& item : items_of(explanation, explanation.attributions[0], special))
      out.push_back(item.text);
    return out;
  };
  EXPECT_THAT(texts(SpecialTokens::kShow),
              testing::ElementsAre("[CLS]", "It", "rains", ".", "[SEP]", "wet", "[SEP]"));
  EXPECT_THAT(texts(SpecialTokens::kHide), testing::ElementsAre("It", "rains", ".", "wet"));
}

TEST(Scale, HiddenTokensCountAndExcludedOnesDoNot) {
  Explanation explanation = documented_sample();
  Attribution& attribution = explanation.attributions[0];
  attribution.scores[0] = -9;
  EXPECT_EQ(scale_of(explanation, attribution, SpecialTokens::kShow).pieces, 9);
  EXPECT_EQ(scale_of(explanation, attribution, SpecialTokens::kHide).items, 9);
  EXPECT_EQ(scale_of(explanation, attribution, SpecialTokens::kExclude).pieces, 1.5);
  EXPECT_EQ(scale_of(explanation, attribution, SpecialTokens::kExclude).items, 1.5);
}

TEST(Scale, IgnoresScoresThatAreNotFinite) {
  const Explanation explanation = broken_scores_sample();
  EXPECT_TRUE(std::isfinite(scale_of(explanation, explanation.attributions[0], {}).items));
  EXPECT_EQ(scale_of(explanation, explanation.attributions[1], {}).pieces, 0);
  EXPECT_EQ(scale_of(explanation, explanation.attributions[2], {}).pieces, 0);
}

TEST(Strength, IsZeroWithoutAScale) {
  EXPECT_EQ(strength(0, 0), 0);
  EXPECT_EQ(strength(NAN, 1), 0);
  EXPECT_EQ(strength(-2, 4), -0.5);
}

TEST(Numbers, LineUpOnFourDigitsOfTheScale) {
  EXPECT_EQ(format_score(0.5, 0.9, ScoreKind::kSigned), "+0.5000");
  EXPECT_EQ(format_score(-0.5, 31, ScoreKind::kSigned), "-0.50");
  EXPECT_EQ(format_score(0.5, 0.9, ScoreKind::kMagnitude), "0.5000");
  EXPECT_EQ(format_score(2e-7, 2e-7, ScoreKind::kMagnitude), "2.00e-07");
  EXPECT_EQ(format_score(0.5, std::nan(""), ScoreKind::kMagnitude), "0.5");
  EXPECT_EQ(format_score(NAN, 1, ScoreKind::kSigned), "not a number");
}

TEST(Answers, HaveTheProbabilitiesOfTheOutput) {
  const std::vector<LabelValue> answers = best_labels(documented_sample(), 10);
  ASSERT_EQ(answers.size(), 3);
  double sum = 0;
  for (const LabelValue& answer : answers) sum += answer.probability.value();
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(answers[0].label, "entailment");
}

TEST(Answers, OfLogitsThatAreNotFiniteHaveNone) {
  Explanation explanation = documented_sample();
  explanation.output.values[1] = HUGE_VAL;
  explanation.output.probabilities[1] = NAN;
  EXPECT_FALSE(best_labels(explanation, 10)[0].probability);
}

TEST(Answers, ProbabilitiesAreNotInvented) {
  Explanation explanation = documented_sample();
  explanation.output.probabilities.clear();
  EXPECT_FALSE(best_labels(explanation, 10)[0].probability);
}

TEST(Answers, KeepTheTargetAmongTheBest) {
  const std::vector<LabelValue> answers = best_labels(many_labels_sample(1000), 10);
  ASSERT_EQ(answers.size(), 10);
  EXPECT_EQ(answers.back().label, "category 17");
  EXPECT_TRUE(answers.back().is_target);
}

TEST(Check, NamesBothSizes) {
  Explanation explanation = documented_sample();
  explanation.attributions[0].scores.pop_back();
  try {
    check_explanation(explanation);
    FAIL() << "seven scores for eight units passed";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "report of method 'kernel_shap': it has 7 scores for 8 units");
  }
}

TEST(AlignedItems, FallBackToTokensWhereMethodsDisagreeOnWords) {
  Explanation explanation = sample_explanation({.methods = 2});
  explanation.attributions[1].words.clear();
  const AlignedItems aligned = aligned_items(explanation, SpecialTokens::kShow);
  EXPECT_EQ(aligned.items[0].size(), explanation.units.size());
  EXPECT_EQ(aligned.items[1].size(), explanation.units.size());
}

}  // namespace
}  // namespace whyformer::report
