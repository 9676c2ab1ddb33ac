#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "studies/debate/adversarial_search.h"
#include "studies/debate/consistent_training.h"
#include "studies/debate/guided_network.h"
#include "tests/support/debate_test_helpers.h"
#include "tests/support/heads_test_helpers.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// The named parameter of one layer becomes 0.
ChangeWeights without(const std::string& part, int layer) {
  return [=](std::map<std::string, std::vector<float>>& weights) {
    const std::string place = "bert.encoder.layer." + std::to_string(layer) + ".attention.self.";
    std::ranges::fill(weights.at(place + part + ".weight"), 0.0f);
    std::ranges::fill(weights.at(place + part + ".bias"), 0.0f);
  };
}

DebateRequest short_search() {
  DebateRequest request;
  request.adversary.steps = 30;
  request.adversary.candidates = 3;
  request.permutations = 20;
  request.layer_permutations = 3;
  return request;
}

TEST(Distributions, DivergenceIsSymmetricAndBetweenZeroAndLn2) {
  const std::vector<double> p{0.7, 0.2, 0.1, 0}, q{0.1, 0.1, 0.3, 0.5}, one{1, 0, 0, 0},
      other{0, 0, 0, 1};
  double by_hand = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double m = (p[i] + q[i]) / 2;
    by_hand += (p[i] > 0 ? p[i] * std::log(p[i] / m) : 0) / 2 + q[i] * std::log(q[i] / m) / 2;
  }
  EXPECT_NEAR(js_divergence(p, q), by_hand, 1e-15);
  EXPECT_EQ(js_divergence(p, q), js_divergence(q, p));
  EXPECT_EQ(js_divergence(p, p), 0);
  EXPECT_NEAR(js_divergence(one, other), std::log(2.0), 1e-15);
}

TEST(Distributions, OfOneLogitTheDistanceIsTheTotalVariationOfItsTwoLabels) {
  const AnswerDistance one{Problem::kOneLogit}, two{Problem::kSingleLabel};
  const std::vector<double> p{0.3, 0.7}, q{0.55, 0.45};
  EXPECT_NEAR(one(p, q), 0.25, 1e-15);
  EXPECT_NEAR(two(p, q), 0.25, 1e-15);
}

TEST(PermutationPart, AUniformRowIsNeverChanged) {
  // Without queries all scores are 0.
  DebateCase test("pair", DType::kFloat32, without("query", 1), short_search());
  DebateInput result;
  kPermutationPart.measure(*test.run, result);
  for (const DebatePermutation& one : result.permutations) {
    if (one.semantics == "last-row" || (one.semantics == "frozen" && one.layer == 1)) {
      EXPECT_EQ(one.max, 0) << one.semantics << one.head;
    }
  }
}

TEST(PermutationPart, IsSeenByTheAnswerWhereWeightsDiffer) {
  DebateCase test("pair", DType::kFloat64, {}, short_search());
  DebateInput result;
  kPermutationPart.measure(*test.run, result);
  ASSERT_EQ(result.permutations.size(), 3u + 2u + 1u);  // all heads and each; layers; live
  for (const DebatePermutation& one : result.permutations) {
    EXPECT_GT(one.max, 0) << one.semantics;
    EXPECT_LE(one.median, one.max);
  }
}

// Of a layer with one head that matters, that head alone is the whole layer.
TEST(PermutationPart, OfOneHeadIsThatOfTheLayerWhereOthersAreNotRead) {
  DebateRequest request = short_search();
  request.semantics = {"frozen", "frozen-heads"};
  DebateCase test(
      "pair", DType::kFloat64, [](auto& weights) { forget_head(weights, 1, 0, 24, 12); }, request);
  DebateInput result;
  kPermutationPart.measure(*test.run, result);
  ASSERT_EQ(result.permutations.size(), 6u);  // two layers, each whole and by its two heads
  const auto& whole = result.permutations[3];
  EXPECT_EQ(whole.head, -1);
  EXPECT_NEAR(result.permutations[4].max, 0, 1e-15);
  EXPECT_NEAR(result.permutations[5].max, whole.max, 1e-15);
  EXPECT_GT(whole.max, 0);
}

TEST(DebateParts, EqualValuesMakeAllAttentionAlike) {
  DebateCase test("pair", DType::kFloat64, without("value", 1), short_search());
  DebateInput result;
  kPermutationPart.measure(*test.run, result);
  kAdversaryPart.measure(*test.run, result);
  kUniformPart.measure(*test.run, result);
  for (const DebatePermutation& one : result.permutations) {
    if (one.semantics == "last-row") {
      EXPECT_EQ(one.max, 0);
    }
  }
  for (const DebateAdversary& one : result.adversaries) {
    EXPECT_LT(one.tvd.back(), 1e-12);
    EXPECT_GT(one.jsd.back(), 0.2);  // nothing holds it back
    EXPECT_LE(one.jsd.back(), std::log(2.0));
  }
  EXPECT_LT(result.uniform[0].tvd, 1e-12);
}

std::vector<DebateAdversary> found_with(const DebateRequest& request) {
  DebateCase test("single", DType::kFloat64, {}, request);
  DebateInput result;
  kAdversaryPart.measure(*test.run, result);
  return result.adversaries;
}

TEST(AdversaryPart, TheFurthestGrowsWithEpsilonAndRestarts) {
  DebateRequest request = short_search();
  request.adversary.epsilons = {0.001, 0.01, 0.05, 0.2};
  request.adversary.scopes = {"joint", "heads", "on-uniform", "rows", "layers", "all"};
  const auto once = found_with(request);
  request.adversary.restarts = 3;
  const auto often = found_with(request);
  ASSERT_EQ(once.size(), often.size());
  for (size_t i = 0; i < once.size(); ++i) {
    for (size_t e = 0; e < 4; ++e) {
      EXPECT_LE(once[i].tvd[e], request.adversary.epsilons[e]);
      EXPECT_GE(often[i].jsd[e], once[i].jsd[e]);
      if (e > 0) {
        EXPECT_GE(once[i].jsd[e], once[i].jsd[e - 1]);
      }
    }
    EXPECT_GE(once[i].jsd.back(), once[i].last_jsd);
  }
}

TEST(AdversaryPart, SearchesDoNotDependOnWhatIsSearchedBeside) {
  DebateRequest request = short_search();
  const auto together = found_with(request);
  request.adversary.scopes = {"heads"};
  const auto alone = found_with(request);
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(alone[i].jsd, together[i + 1].jsd);
}

TEST(AdversaryPart, OfLayersIsSearchedInEachByItselfAndInAllTogether) {
  DebateRequest request = short_search();
  request.adversary.scopes = {"layers", "rows", "all"};
  const auto found = found_with(request);
  ASSERT_EQ(found.size(), 4u);
  const std::vector<std::pair<std::string, int64_t>> expected{
      {"rows", 1}, {"layers", 0}, {"layers", 1}, {"all", -1}};
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(std::pair(found[i].scope, found[i].layer), expected[i]);
    EXPECT_GT(found[i].jsd.back(), 0) << i;
    EXPECT_LE(found[i].tvd.back(), 0.05) << i;
  }
}

TEST(AdversaryPart, WithoutStepsTheStartNearTheObservedWeightsOrTheseThemselvesAreLeft) {
  DebateRequest request = short_search();
  request.adversary.steps = 0;
  for (const DebateAdversary& one : found_with(request)) EXPECT_GE(one.jsd[0], 0);
}

TEST(GuidedNetwork, AOneHotGuideMakesTheAnswerDependOnThatTokenOnly) {
  const GuidedNetwork network({.depth = 3, .width = 4}, 7);
  GuidedExample example{{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0}, moved = example;
  for (const int i : {0, 1, 2, 6, 7, 8}) moved.vectors[i] = -5;
  EXPECT_EQ(network.logits(example, {0, 1, 0}), network.logits(moved, {0, 1, 0}));
  EXPECT_NE(network.logits(example, {1, 0, 0}), network.logits(moved, {1, 0, 0}));
}

TEST(GuidedNetwork, LearnsAPlantedWordWhereTheGuidePointsAtIt) {
  GuidedData data;
  for (int64_t i = 0; i < 120; ++i) {
    GuidedExample example{.vectors = {}, .label = i % 2};
    for (int64_t token = 0; token < 3; ++token) {
      const bool tells = token == (i / 2) % 3;
      const float noise = static_cast<float>(CounterRandom(1, "words", i).normal(token));
      example.vectors.insert(example.vectors.end(),
                             {tells ? (i % 2 == 0 ? 1.0f : -1.0f) : noise, noise});
    }
    data.examples.push_back(example);
    data.weights.emplace_back(3, 0.0);
    data.weights.back()[(i / 2) % 3] = 1;
  }
  const GuidedOptions options{.depth = 2, .width = 8, .epochs = 30, .learning_rate = 0.02};
  EXPECT_EQ(score_guided(train_guided(data, data, options, 0), data, 2).accuracy, 1);
  EXPECT_EQ(train_guided(data, data, options, 3).parameters(),
            train_guided(data, data, options, 3).parameters());
}

TEST(ConsistentTraining, ItsLossGrowsAlongItsGradient) {
  const DebateCase test("pair", DType::kFloat32);
  const ConsistentExample example = consistent_example(*test.run);
  TrainedParts parts = trained_parts(example);
  const AnswerDistance distance = test.run->distance();
  // Away from the start, where the distance of answers has a corner.
  for (size_t i = 0; i < parts.query.numbers.size(); ++i)
    parts.query.numbers[i] += 0.3 * CounterRandom(0, "query", 0).normal(static_cast<int64_t>(i));
  for (double& number : parts.classifier.numbers) number *= 1.3;
  for (const double lambda : {0.0, 0.5}) {
    const ConsistentLoss loss = consistent_loss({&example}, parts, distance, lambda);
    for (int which = 0; which < 3; ++which) {
      const std::vector<double>& gradient = which == 0   ? loss.query
                                            : which == 1 ? loss.key
                                                         : loss.classifier;
      double squares = 0;
      for (const double slope : gradient) squares += slope * slope;
      if (squares < 1e-10) continue;
      const double step = 2e-3 / std::sqrt(squares);
      const auto moved = [&](double by) {
        TrainedParts other = parts;
        std::vector<double>& numbers = which == 0   ? other.query.numbers
                                       : which == 1 ? other.key.numbers
                                                    : other.classifier.numbers;
        for (size_t i = 0; i < numbers.size(); ++i) numbers[i] += by * gradient[i];
        return consistent_loss({&example}, other, distance, lambda).value;
      };
      // In single precision.
      EXPECT_NEAR((moved(step) - moved(-step)) / (2 * step) / squares, 1, 0.02) << which << lambda;
    }
  }
}

// The same weights with one Linear for queries, keys and values: the same loss, and the same slope
// at what queries and keys are made by.
TEST(ConsistentTraining, TrainsQueriesAndKeysOfOneProjectionAsThoseOfThree) {
  const DebateCase three("pair", DType::kFloat32),
      one(GoldenModel::from_onnx("bert", "-one-projection"), "pair", DType::kFloat32);
  const ConsistentExample apart = consistent_example(*three.run),
                          joint = consistent_example(*one.run);
  TrainedParts parts = trained_parts(apart);
  const TrainedParts own = trained_parts(joint);
  EXPECT_EQ(own.query.numbers, parts.query.numbers);
  EXPECT_EQ(own.key.numbers, parts.key.numbers);
  for (size_t i = 0; i < parts.query.numbers.size(); ++i)
    parts.query.numbers[i] += 0.3 * CounterRandom(0, "query", 0).normal(static_cast<int64_t>(i));
  const AnswerDistance distance = three.run->distance();
  const ConsistentLoss expected = consistent_loss({&apart}, parts, distance, 0.5),
                       found = consistent_loss({&joint}, parts, distance, 0.5);
  EXPECT_NEAR(found.value, expected.value, 1e-6);
  EXPECT_THAT(found.query, testing::Pointwise(testing::DoubleNear(1e-6), expected.query));
  EXPECT_THAT(found.key, testing::Pointwise(testing::DoubleNear(1e-6), expected.key));
  EXPECT_THAT(found.query, testing::Contains(testing::Not(0.0)));
}

TEST(ConsistentTraining, UntrainedPartsGiveTheModelsOwnAnswer) {
  const DebateCase test("single", DType::kFloat32);
  const ConsistentExample example = consistent_example(*test.run);
  const ConsistentState state =
      state_of(example, trained_parts(example), test.run->distance().problem);
  for (size_t i = 0; i < state.probabilities.size(); ++i)
    EXPECT_NEAR(state.probabilities[i], test.run->probabilities()[i], 1e-6);
  EXPECT_THAT(consistent_loss({&example}, trained_parts(example), test.run->distance(), 0).query,
              testing::Each(0.0));
}

TEST(DebateStudy, InputsAreMeasuredAndConcluded) {
  const GoldenModel golden("bert");
  const TokenReader reader(golden);
  const DebateModels models{reader, {&reader}, {{"the same", ""}}};
  DebateRequest request = short_search();
  request.diagnostic.guides = {"uniform", "attention", "grad-sam", "adversary"};
  std::vector<DebateExample> examples;
  std::vector<DebateInput> inputs;
  for (const char* name : {"single", "pair", "special_only"}) {
    examples.push_back({name, TextInput{name, {}}, "0"});
    inputs.push_back(
        study_debate_input(models, examples.back(), static_cast<int64_t>(inputs.size()), request));
  }
  EXPECT_EQ(inputs[0].problem, "");
  EXPECT_EQ(inputs[0].others[0].jsd, 0);
  EXPECT_FALSE(inputs[2].refused.empty());  // there is nothing to permute
  const DebateReport report = conclude_debate(models, examples, inputs, request);
  EXPECT_EQ(report.median_jsd_of_models->mean, 0);
  std::vector<std::string> refused;
  for (const Refusal& one : report.refused) refused.push_back(one.method);
  EXPECT_THAT(refused, testing::IsSupersetOf({"diagnostic", "consistent"}));
  EXPECT_EQ(report.verdicts.size(), 5u);
  request.parts = {"everything"};
  EXPECT_THROW(study_debate_input(models, examples[0], 0, request), InvalidInput);
}

}  // namespace
}  // namespace whyformer
