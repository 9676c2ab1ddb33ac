#include "evaluate/trust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/numpy_random.h"
#include "base/random.h"
#include "evaluate/noisy_inputs.h"
#include "models/built_in.h"
#include "tests/support/saved_models.h"
#include "tests/support/table_answers.h"
#include "tests/support/test_text.h"
#include "tests/support/uniformity.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using onnx::add_floats;
using onnx::add_integers;
using onnx::add_node;
using onnx::set_integer;
using onnx::set_integers;
using onnx::TinyModel;
using testing::Contains;
using testing::HasSubstr;

TEST(Percentile, CountsTiesHalfAndHasAnError) {
  const Percentile middle = percentile_among(2, std::vector<double>{1, 2, 3, 4});
  EXPECT_EQ(middle.value, 1.5 / 4);
  // The deviation of a Beta(2.5, 3.5) distribution.
  EXPECT_NEAR(middle.error, std::sqrt(2.5 * 3.5 / (36.0 * 7)), 1e-15);
  const Percentile best = percentile_among(5, std::vector<double>{1, 2, 3, 4});
  EXPECT_EQ(best.value, 1);
  EXPECT_NEAR(best.error, std::sqrt(5 * 1 / (36.0 * 7)), 1e-15);
}

TEST(TestAmongRandom, NeedsAllOf39RandomValuesOnOneSide) {
  const std::vector<double> below(39, 1.0);
  EXPECT_EQ(test_among(2, below).p_value, 0.05);
  EXPECT_EQ(test_among(2, below).verdict, TrustVerdict::kBetterThanRandom);
  EXPECT_EQ(test_among(0, below).p_value, 0.05);
  EXPECT_EQ(test_among(0, below).verdict, TrustVerdict::kWorseThanRandom);
  EXPECT_EQ(test_among(1, below).p_value, 1);
  EXPECT_EQ(test_among(1, below).verdict, TrustVerdict::kLikeRandom);
  std::vector<double> one_as_good = below;
  one_as_good[7] = 2;
  EXPECT_EQ(test_among(2, one_as_good).p_value, 0.1);
  EXPECT_EQ(test_among(2, one_as_good).verdict, TrustVerdict::kLikeRandom);
  const std::vector<double> too_few(38, 1.0);
  EXPECT_EQ(test_among(2, too_few).p_value, 2.0 / 39);
  EXPECT_EQ(test_among(2, too_few).verdict, TrustVerdict::kLikeRandom);
}

// Comprehensiveness minus sufficiency, which the verdict goes by.
double difference_along(const Ranking& ranking, HiddenAnswers& answers) {
  const std::vector<int64_t> sizes = eraser_sizes(answers.players());
  return mean_drop_without(ranking, sizes, answers) - mean_drop_with_only(ranking, sizes, answers);
}

// A ranking among 39 others, for one seed after the other.
class RandomBands {
 public:
  static constexpr int64_t kPlayers = 10, kOrders = 39;

  RandomBands()
      : table_(AnswerTable::of(kPlayers,
                               [this](const std::vector<bool>&) { return random_.uniform(); })),
        answers_(table_.answers()) {
    for (int64_t row = 0; row < int64_t{1} << kPlayers; ++row) {
      HiddenAnswers::Hidden hidden(kPlayers);
      for (int64_t i = 0; i < kPlayers; ++i) hidden[i] = row >> i & 1;
      answers_(hidden);
    }
    answers_.run_noted();
  }

  std::vector<double> others(int64_t seed) {
    std::vector<double> differences;
    for (int64_t i = 0; i < kOrders; ++i) {
      differences.push_back(difference_along(random_ranking(kPlayers, seed, i), answers_));
    }
    return differences;
  }
  // Of scores in an order that has nothing to do with the rankings.
  double shuffled() { return difference_along(random_.permutation(kPlayers), answers_); }

 private:
  NumpyRandom random_{1};
  AnswerTable table_;
  HiddenAnswers answers_;
};

TEST(Trust, RandomRankingsFillTheirOwnBandUniformly) {
  RandomBands bands;
  std::vector<double> percentiles;
  for (int64_t seed = 0; seed < 400; ++seed) {
    std::vector<double> differences = bands.others(seed);
    const double own = differences.back();
    differences.pop_back();
    const double below = percentile_among(own, differences).value * 38;
    // Among 38 others there are 39 places; within a place anything is as likely.
    const CounterRandom within(seed, "within", 0);
    percentiles.push_back((below + within.uniform(0)) / 39);
  }
  EXPECT_GT(uniformity(percentiles).p_value, 0.01);
}

TEST(Trust, ShuffledScoresAreCalledRandomIn95Of100Cases) {
  RandomBands bands;
  int64_t like_random = 0, better = 0;
  for (int64_t seed = 0; seed < 1000; ++seed) {
    const RandomTest test = test_among(bands.shuffled(), bands.others(seed));
    like_random += test.verdict == TrustVerdict::kLikeRandom ? 1 : 0;
    better += test.verdict == TrustVerdict::kBetterThanRandom ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(like_random), 950, 20);
  EXPECT_NEAR(static_cast<double>(better), 25, 15);
}

constexpr int64_t kPlantedTokens = 12;
const std::vector<int64_t> kPlantedIds{5, 11, 2, 8, 1, 12, 4, 9, 3, 10, 6, 7};

// Attention that is the same everywhere; the first logit is the sum of one number of each token,
// which is 0 for the token that hides others. Token `id` has 1.5^id / 100.
TinyModel planted_sum() {
  TinyModel model;
  auto& graph = model.graph();
  model.input("input_ids", {1, kPlantedTokens}, onnx::pb::TensorProto::INT64);
  std::vector<float> table(2 * (kPlantedTokens + 1), 0.0f);
  for (int64_t id = 1; id <= kPlantedTokens; ++id) {
    table[2 * id] = static_cast<float>(std::pow(1.5, static_cast<double>(id)) / 100);
  }
  add_floats(graph, "table", {kPlantedTokens + 1, 2}, table);
  add_floats(graph, "no_queries", {2, 2}, {0, 0, 0, 0});
  add_floats(graph, "weight", {2, 2}, {kPlantedTokens, 0, 0, 1});
  add_integers(graph, "head_axis", {1}, {1});
  add_node(graph, "Gather", {"table", "input_ids"}, {"words"});
  add_node(graph, "Unsqueeze", {"words", "head_axis"}, {"heads"});
  add_node(graph, "MatMul", {"heads", "no_queries"}, {"queries"});
  set_integers(add_node(graph, "Transpose", {"heads"}, {"keys"}), "perm", {0, 1, 3, 2});
  add_node(graph, "MatMul", {"queries", "keys"}, {"scores"});
  set_integer(add_node(graph, "Softmax", {"scores"}, {"map"}), "axis", -1);
  add_node(graph, "MatMul", {"map", "heads"}, {"context"});
  add_node(graph, "Squeeze", {"context", "head_axis"}, {"merged"});
  auto& mean = add_node(graph, "ReduceMean", {"merged"}, {"pooled"});
  set_integers(mean, "axes", {1});
  set_integer(mean, "keepdims", 0);
  add_node(graph, "MatMul", {"pooled", "weight"}, {"logits"});
  model.output("logits");
  return model;
}

ArrayViews planted_input() {
  return {{"input_ids",
           {"I64",
            {1, kPlantedTokens},
            {kPlantedIds.data(), [](const void*) {}},
            kPlantedIds.size() * sizeof(int64_t)}}};
}

Explanation explained_planted(const std::vector<std::string>& methods) {
  const SavedFolder folder(planted_sum());
  ExplainRequest request{.target = OutputElement{.indices = {0, 0}},
                         .hiding_id = 0,
                         .precision = Precision::kDouble,
                         .trust = TrustRequest{}};
  for (const std::string& method : methods) request.methods.push_back({method});
  return explain(Model::load(folder.file(), {.arrays = true}), planted_input(), request)[0];
}

TEST(Trust, MethodsThatFindAPlantedSumAreBetterThanRandom) {
  const Explanation found =
      explained_planted({"gradient-x-input", "integrated-gradients", "leave-one-out", "shap",
                         "exact-shap", "shapley-taylor"});
  ASSERT_TRUE(found.trust);
  ASSERT_EQ(found.attributions.size(), 6u);
  EXPECT_EQ(found.trust->units, kPlantedTokens);
  for (const Attribution& attribution : found.attributions) {
    SCOPED_TRACE(attribution.method);
    const Trust& trust = *attribution.trust;
    EXPECT_EQ(trust.percentile.value, 1);
    EXPECT_EQ(trust.comprehensiveness_percentile.value, 1);
    EXPECT_EQ(trust.sufficiency_percentile.value, 1);
    EXPECT_EQ(trust.p_value, 0.05);
    EXPECT_EQ(trust.verdict, TrustVerdict::kBetterThanRandom);
    EXPECT_TRUE(trust.class_specific);
    for (const MethodAgreement& other : trust.agreement) {
      EXPECT_NEAR(*other.spearman, 1, 1e-12) << other.method;
      EXPECT_EQ(other.top_k, 1) << other.method;
    }
  }
}

TEST(Trust, AttentionThatIsTheSameEverywhereIsLikeRandom) {
  const Explanation found = explained_planted({"raw-attention", "leave-one-out"});
  ASSERT_EQ(found.attributions.size(), 2u);
  const Trust& trust = *found.attributions[0].trust;
  EXPECT_EQ(trust.verdict, TrustVerdict::kLikeRandom);
  EXPECT_GT(trust.p_value, 0.05);
  EXPECT_FALSE(trust.class_specific);
  EXPECT_THAT(trust.notes, Contains(HasSubstr("All units have the same score")));
  ASSERT_EQ(trust.agreement.size(), 1u);
  EXPECT_FALSE(trust.agreement[0].spearman);
}

// A card speaks of a method with its options, not of the method with others.
TEST(Trust, SaysWhatTheSanityCardSays) {
  const Model model = Model::built_in();
  const TextInput text{"a charming and often affecting journey", {}};
  ExplainRequest request{.methods = {{"rollout"}, {"gae"}}, .trust = TrustRequest{}};
  const Explanation without = explain(model, text, request)[0];
  EXPECT_FALSE(without.trust->has_sanity_card);
  EXPECT_FALSE(without.attributions[0].trust->sanity);
  request.trust->sanity = {{{.method = "rollout",
                             .options = without.attributions[0].options,
                             .depends_on_class = SanityVerdict::kNo,
                             .depends_on_weights = SanityVerdict::kPartly,
                             .inputs = 7}}};
  const Explanation with = explain(model, text, request)[0];
  EXPECT_TRUE(with.trust->has_sanity_card);
  ASSERT_TRUE(with.attributions[0].trust->sanity);
  EXPECT_EQ(with.attributions[0].trust->sanity->depends_on_weights, SanityVerdict::kPartly);
  EXPECT_EQ(with.attributions[0].trust->sanity->inputs, 7);
  EXPECT_FALSE(with.attributions[1].trust->sanity);
  request.methods = {{"rollout", {{"start", int64_t{1}}}}};
  EXPECT_FALSE(explain(model, text, request)[0].attributions[0].trust->sanity);
}

// The model is a sum, so the curves are partial sums of the sorted terms.
TEST(Trust, CurvesAreTheAnswersAlongTheRanking) {
  const Explanation found = explained_planted({"leave-one-out"});
  const TrustCurve& curve = found.attributions[0].trust->curve;
  EXPECT_EQ(curve.shares, (std::vector<double>{0, 1.0 / 12, 2.0 / 12, 6.0 / 12, 1}));
  double whole = 0;
  for (int64_t id = 1; id <= kPlantedTokens; ++id) {
    whole += std::pow(1.5, static_cast<double>(id)) / 100;
  }
  const std::vector<int64_t> sizes{0, 1, 2, 6, 12};
  for (size_t i = 0; i < sizes.size(); ++i) {
    double top = 0;
    for (int64_t id = kPlantedTokens; id > kPlantedTokens - sizes[i]; --id) {
      top += std::pow(1.5, static_cast<double>(id)) / 100;
    }
    EXPECT_NEAR(curve.removed[i], whole - top, 1e-6);  // the table is in float32
    EXPECT_NEAR(curve.kept[i], top, 1e-6);
  }
  const TrustBand& band = found.trust->band;
  EXPECT_EQ(band.shares, curve.shares);
  EXPECT_EQ(band.removed_low.front(), band.removed_high.front());
  EXPECT_EQ(band.kept_low.back(), band.kept_high.back());
  EXPECT_DOUBLE_EQ(band.removed_mean.back(), found.trust->hidden);
  EXPECT_DOUBLE_EQ(band.kept_mean.back(), found.trust->answer);
  for (size_t i = 1; i + 1 < band.shares.size(); ++i) {
    EXPECT_LT(band.removed_low[i], band.removed_mean[i]);
    EXPECT_GT(band.removed_high[i], band.removed_mean[i]);
  }
}

Explanation explained_text(const std::string& text, bool with_trust, int64_t seed = 3) {
  ExplainRequest request{.methods = {{"gradient-x-input"}, {"raw-attention"}, {"leave-one-out"}},
                         .seed = seed};
  if (with_trust) request.trust = TrustRequest{};
  return explain(Model::built_in(), TextInput{text, {}}, request)[0];
}

TEST(Trust, LeavesScoresAsTheyAreAndIsTheSameForTheSameSeed) {
  const std::string text = "a charming and often affecting journey";
  const Explanation plain = explained_text(text, false), first = explained_text(text, true),
                    second = explained_text(text, true), other = explained_text(text, true, 4);
  bool differs = false;
  for (size_t i = 0; i < plain.attributions.size(); ++i) {
    EXPECT_EQ(first.attributions[i].scores, plain.attributions[i].scores);
    EXPECT_FALSE(plain.attributions[i].trust);
    const Trust &one = *first.attributions[i].trust, &two = *second.attributions[i].trust,
                &three = *other.attributions[i].trust;
    EXPECT_EQ(one.percentile.value, two.percentile.value);
    EXPECT_EQ(one.comprehensiveness, two.comprehensiveness);
    EXPECT_EQ(one.sufficiency_percentile.value, two.sufficiency_percentile.value);
    EXPECT_EQ(one.curve.removed, two.curve.removed);
    ASSERT_EQ(one.stability.has_value(), two.stability.has_value());
    if (one.stability) {
      EXPECT_EQ(one.stability->max_sensitivity, two.stability->max_sensitivity);
      differs = differs || one.stability->max_sensitivity != three.stability->max_sensitivity;
    }
    EXPECT_EQ(one.comprehensiveness, three.comprehensiveness);
    differs = differs || one.percentile.value != three.percentile.value;
  }
  EXPECT_TRUE(differs);
  EXPECT_EQ(first.trust->band.removed_mean, second.trust->band.removed_mean);
  EXPECT_EQ(first.trust->space, "probability");
}

TEST(Trust, StabilityIsMeasuredForMethodsThatReadWhatEnters) {
  const Explanation found = explained_text("a charming and often affecting journey", true);
  EXPECT_TRUE(found.attributions[0].trust->stability);
  EXPECT_EQ(found.attributions[0].trust->stability->inputs, 4);
  EXPECT_GT(found.attributions[0].trust->stability->max_sensitivity, 0);
  EXPECT_FALSE(found.attributions[2].trust->stability);
  EXPECT_THAT(found.attributions[2].trust->notes, Contains(HasSubstr("hides units")));
}

TEST(Trust, TooFewUnitsAreToldAndTheExplanationStays) {
  const Explanation found = explained_text("good", true);
  EXPECT_FALSE(found.trust);
  EXPECT_EQ(found.attributions.size(), 3u);
  for (const Attribution& one : found.attributions) EXPECT_FALSE(one.trust);
  EXPECT_THAT(found.notes, Contains(HasSubstr("Trust was not measured: 1 of the units")));
}

std::unique_ptr<Run> sentiment_run() {
  const auto model = TestText::load(built_in_sentiment(), "sentiment");
  auto explained = new_run(
      *model, model->encode("a charming journey"),
      {.problem = Problem::kSingleLabel, .needs = {.attention = true, .embedding_gradient = true}});
  explained->set_target(1);
  return explained;
}

TEST(NoisyInputs, LeaveTheRunAsItWas) {
  const auto explained = sentiment_run();
  const std::vector<double> outputs = explained->outputs();
  const std::vector<double> gradient = explained->embedding_gradient(Depth::kInput).to_doubles(),
                            map = explained->attention(0).to_doubles(),
                            own = explained->entering()->to_doubles();
  int64_t copies = 0;
  const auto visit = [&](int64_t copy, double length) {
    EXPECT_EQ(copy, copies++);
    EXPECT_GT(length, 0);
    EXPECT_NE(explained->outputs(), outputs);
    EXPECT_NE(explained->attention(0).to_doubles(), map);
    EXPECT_NE(explained->embedding_gradient(Depth::kInput).to_doubles(), gradient);
  };
  ASSERT_TRUE(visit_noisy_inputs(*explained, {.copies = 3, .radius = 0.1}, visit));
  EXPECT_EQ(copies, 3);
  EXPECT_EQ(explained->outputs(), outputs);
  EXPECT_EQ(explained->embedding_gradient(Depth::kInput).to_doubles(), gradient);
  EXPECT_EQ(explained->attention(0).to_doubles(), map);
  EXPECT_EQ(explained->entering()->to_doubles(), own);
}

TEST(NoisyInputs, LeaveTheRunAsItWasWhereAMethodThrows) {
  const auto explained = sentiment_run();
  const std::vector<double> outputs = explained->outputs(),
                            gradient = explained->embedding_gradient(Depth::kInput).to_doubles();
  EXPECT_THROW(visit_noisy_inputs(*explained, {.copies = 2},
                                  [](int64_t, double) { throw InvalidInput("no"); }),
               InvalidInput);
  EXPECT_EQ(explained->outputs(), outputs);
  EXPECT_EQ(explained->embedding_gradient(Depth::kInput).to_doubles(), gradient);
}

TEST(NoisyInputs, WhatEntersItselfGivesTheRunItself) {
  const auto explained = sentiment_run();
  const std::vector<double> outputs = explained->outputs(),
                            gradient = explained->embedding_gradient(Depth::kInput).to_doubles();
  explained->enter(*explained->entering());
  EXPECT_EQ(explained->outputs(), outputs);
  EXPECT_EQ(explained->embedding_gradient(Depth::kInput).to_doubles(), gradient);
  explained->enter_own();
  explained->enter_own();  // nothing else entered
  EXPECT_EQ(explained->outputs(), outputs);
}

}  // namespace
}  // namespace whyformer
