// What must hold for every model, checked on the tiny ones of tests/golden/models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "graph/walk_back.h"
#include "methods/method.h"
#include "ops/ops.h"
#include "run/run.h"
#include "tests/support/golden_model.h"
#include "tests/support/hiding_test_helpers.h"

namespace whyformer {
namespace {

Run explained_case(const GoldenModel& golden, const std::string& input, int64_t target) {
  Run explained =
      run_of(*golden.model, golden.input(input).encoding(),
             {.head = golden.head(), .needs = {true, true, true, true}, .memory_bytes = 1 << 24});
  explained.set_target(target);
  return explained;
}

std::vector<double> scores(Run& explained, const Method& method, const Options& given = {}) {
  return method.run(explained, complete_options(method, given)).values;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(AttentionGradient, EqualsFiniteDifferencesOfInjectedMaps) {
  for (const std::string name : {"bert", "albert-shared", "bert-mean-pooling"}) {
    const GoldenModel golden(name);
    const GoldenInput& input = golden.input("pair");
    const auto graph = golden.model->graph(
        {.tokens = input.tokens(), .head = golden.head(), .dtype = DType::kFloat64});
    const Feeds feeds = golden.model->feeds(*graph, input.batch);
    const Pass pass =
        run(graph->graph, feeds, {.keep = Keep::kEverything, .outputs = {graph->output}});
    Tensor seed = Tensor::zeros(graph->graph.shape(graph->output), DType::kFloat64);
    seed.slice(1, 0, 1).fill(1);
    for (const AttentionSite& site : graph->found.sites) {
      const auto gradients =
          walk_back(graph->graph, pass, graph->output, seed, gradient_rule(), {site.attention});
      const std::vector<double> gradient = gradients.at(site.attention).to_doubles();
      for (size_t i = 0; i < gradient.size(); i += 17) {
        const auto moved = [&](double step) {
          Tensor map = pass[site.attention].copy();
          map.mutable_data<double>()[i] += step;
          return rerun(graph->graph, pass, {{site.attention, map}})[graph->output].to_doubles()[0];
        };
        const double slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
        EXPECT_NEAR(gradient[i], slope, 1e-6 * std::max(1.0, std::abs(slope)))
            << name << ' ' << site.name << " entry " << i;
      }
    }
  }
}

TEST(AttentionGradient, OfTheLastLayerIsZeroOutsideTheReadOutRow) {
  const GoldenModel golden("bert");
  auto explained = explained_case(golden, "single", 0);
  const Tensor gradient = explained.attention_gradient(explained.layers() - 1);
  double inside = 0;
  for (int64_t h = 0; h < gradient.dim(0); ++h) {
    for (int64_t i = 0; i < gradient.dim(1); ++i) {
      for (int64_t j = 0; j < gradient.dim(2); ++j) {
        const float value = gradient.select(0, h).select(0, i).to_doubles()[j];
        if (i == 0)
          inside += std::abs(value);
        else
          EXPECT_EQ(value, 0);
      }
    }
  }
  EXPECT_GT(inside, 0);
}

TEST(Discovery, FindsSitesStreamAndReadOutWithoutNames) {
  const GoldenModel albert("albert-two-groups");
  const auto graph = albert.model->graph({.tokens = 5});
  ASSERT_EQ(graph->found.sites.size(), 4u) << "one map per use of shared weights";
  EXPECT_EQ(graph->found.streams.size(), 1u);
  for (const AttentionSite& site : graph->found.sites) {
    EXPECT_TRUE(site.is_self_attention());
    EXPECT_EQ(site.heads, 2);
    EXPECT_EQ(site.queries, 5);
  }
  EXPECT_EQ(graph->found.read_out.kind, ReadOut::Kind::kRow);
  EXPECT_EQ(graph->found.read_out.row, 0);
  const GoldenModel pooled("bert-mean-pooling");
  for (const bool masked : {false, true}) {
    const auto encoder =
        pooled.model->graph({.tokens = 5, .masked = masked, .head = Head::kEmbedding});
    EXPECT_EQ(encoder->found.read_out.kind,
              masked ? ReadOut::Kind::kWeights : ReadOut::Kind::kMean);
  }
}

TEST(RestrictRows, LeavesOneRowAfterTheLastAttentionMap) {
  const GoldenModel golden("bert");
  const auto graph = golden.model->graph({.tokens = 7});
  int one_row = 0, all_rows = 0;
  for (const Node& node : graph->graph.nodes()) {
    if (!is_a<ops::Linear>(*node.op)) continue;
    const Shape& shape = graph->graph.shape(node.outputs[0]);
    if (shape.size() == 3) ++(shape[1] == 1 ? one_row : all_rows);
  }
  EXPECT_EQ(one_row, 3) << "output projection and both feed-forward products of the last layer";
  EXPECT_EQ(all_rows, 2 * 6 - 3);
}

TEST(Pass, OneBackwardWalkServesAllMethodsOfACall) {
  const GoldenModel golden("bert");
  auto explained = explained_case(golden, "single", 1);
  for (const Method* method :
       {&kGenericAttention, &kGradSam, &kGradCam, &kSaliency, &kGradientTimesInput, &kRollout}) {
    scores(explained, *method);
  }
  EXPECT_EQ(explained.walks_read(), 1);
  // Relevance methods share one walk more for each policy.
  for (const Method* method : {&kTransformerAttribution, &kPartialLrp, &kLrp}) {
    scores(explained, *method);
  }
  EXPECT_EQ(explained.walks_read(), 3);
  EXPECT_EQ(explained.spent().forwards, 1);
  EXPECT_EQ(explained.spent().backwards, 0);
}

TEST(Batch, GivesTheSameBitsAsSingleInputs) {
  const GoldenModel golden("bert");
  auto explained = explained_case(golden, "single", 0);
  std::vector<std::vector<bool>> hidden(5, std::vector<bool>(explained.tokens(), false));
  for (size_t i = 0; i < hidden.size(); ++i) hidden[i][i % explained.tokens()] = true;
  for (const std::string how : {"delete", "drop"}) {
    const auto together = answers_hiding(explained, hidden, how);
    for (size_t i = 0; i < hidden.size(); ++i) {
      // Another one, that remembers nothing.
      auto other = explained_case(golden, "single", 0);
      EXPECT_EQ(answers_hiding(other, {hidden[i]}, how)[0], together[i]);
    }
  }
}

TEST(Threads, DoNotChangeASingleBit) {
  const GoldenModel golden("roberta");
  const int before = thread_count();
  std::vector<std::vector<double>> results[2];
  for (const int threads : {1, 2}) {
    set_thread_count(threads);
    auto explained = explained_case(golden, "pair", 0);
    results[threads - 1].push_back(explained.outputs());
    for (const Method* method : catalogue()) {
      results[threads - 1].push_back(scores(explained, *method));
    }
  }
  set_thread_count(before);
  EXPECT_EQ(results[0], results[1]);
}

TEST(Padding, ChangesNothingForTheRealTokens) {
  const GoldenModel golden("bert");
  const auto alone = golden.model->graph({.tokens = 5});
  const auto padded = golden.model->graph({.tokens = 7, .masked = true});
  const std::vector<int64_t> ids{2, 19, 42, 28, 3};
  std::vector<int64_t> longer = ids;
  longer.insert(longer.end(), {0, 0});
  const TokenBatch plain{{ids}, {std::vector<int64_t>(5, 0)}, {}};
  const TokenBatch hidden{
      {longer}, {std::vector<int64_t>(7, 0)}, {{false, false, false, false, false, true, true}}};
  const auto logits = [&](const auto& graph, const TokenBatch& batch) {
    return run(graph->graph, golden.model->feeds(*graph, batch),
               {.outputs = {graph->output}})[graph->output]
        .to_doubles();
  };
  EXPECT_THAT(logits(padded, hidden),
              testing::Pointwise(testing::DoubleNear(1e-6), logits(alone, plain)));
}

TEST(Rollout, DoesNotDependOnTheTargetAndItsRowSumsToOne) {
  const GoldenModel golden("electra");
  auto first = explained_case(golden, "pair", 0);
  auto second = explained_case(golden, "pair", 1);
  EXPECT_EQ(scores(first, kRollout), scores(second, kRollout));
  EXPECT_NEAR(sum(scores(first, kRollout)), 1, 1e-9);
  EXPECT_NEAR(sum(scores(first, kRawAttention)), 1, 1e-6);
  EXPECT_NEAR(sum(scores(first, kAttentionFlow)), 1, 1e-9);
}

TEST(GradSam, AxesAgreeInTotalAndTheLastLayerOnlyHitsTheReadOutToken) {
  const GoldenModel golden("distilbert");
  auto explained = explained_case(golden, "single", 1);
  const std::vector<double> query = scores(explained, kGradSam);
  const std::vector<double> key = scores(explained, kGradSam, {{"axis", std::string("key")}});
  EXPECT_NEAR(sum(query), sum(key), 1e-9 * sum(query));
  EXPECT_NE(query, key);
  for (const double score : query) EXPECT_GE(score, 0);
}

TEST(IntegratedGradients, AddUpAndGiveKeptTokensExactlyNothing) {
  const GoldenModel golden("bert");
  auto explained = explained_case(golden, "single", 1);
  const Scores result =
      kIntegratedGradients.run(explained, complete_options(kIntegratedGradients, {}));
  const std::vector<bool> special = golden.input("single").special[0];
  for (size_t i = 0; i < special.size(); ++i) {
    if (special[i]) {
      EXPECT_EQ(result.values[i], 0);
    }
  }
  const double difference =
      explained.target_value() - golden.values("single.integrated_gradients.pad_baseline_value")[0];
  EXPECT_NEAR(sum(result.values), difference, 1e-3 * std::abs(difference));
  EXPECT_NEAR(*result.completeness_gap, sum(result.values) - difference, 1e-4);
}

TEST(IntegratedGradients, FromTheInputItselfAreZero) {
  const GoldenModel golden("bert");
  Encoding nothing = golden.input("special_only").encoding();
  auto explained =
      run_of(*golden.model, nothing, {.needs = {.embedding_gradient = true, .values = true}});
  for (const double score : scores(explained, kIntegratedGradients)) EXPECT_EQ(score, 0);
}

TEST(SmoothGrad, WithoutNoiseIsSaliencyAndWithNoiseDependsOnTheSeedAlone) {
  const GoldenModel golden("bert");
  auto explained = explained_case(golden, "single", 1);
  const std::vector<double> plain = scores(explained, kSaliency);
  const std::vector<double> still =
      scores(explained, kSmoothGrad, {{"noise", 0.0}, {"samples", int64_t{3}}});
  for (size_t i = 0; i < plain.size(); ++i) EXPECT_NEAR(still[i], plain[i], 1e-6 * plain[i]);
  const std::vector<double> noisy = scores(explained, kSmoothGrad);
  EXPECT_EQ(noisy, scores(explained, kSmoothGrad));
  EXPECT_NE(noisy, plain);
}

TEST(Methods, SurviveInputsOfOneAndTwoTokens) {
  const GoldenModel golden("bert");
  for (const std::string input : {"one_token", "special_only"}) {
    auto explained = explained_case(golden, input, 0);
    for (const Method* method : catalogue()) {
      for (const double score : scores(explained, *method)) {
        EXPECT_FALSE(std::isnan(score)) << method->info.name << " on " << input;
      }
    }
  }
}

// (x - x')·Σ w_k ∇f(x' + a_k (x - x')) in plain loops: half weights at both ends.
TEST(IntegratedGradients, ByTheTrapezoidAreItsSumOverEquallySpacedNodes) {
  const GoldenModel golden("bert");
  auto explained = explained_case(golden, "single", 1);
  const Tensor input = explained.embeddings(Depth::kInput);
  const std::vector<double> to = input.to_doubles(),
                            from = explained.input().baseline(Depth::kInput, "pad").to_doubles();
  constexpr int kNodes = 6;
  std::vector<double> expected(input.dim(0), 0.0);
  for (int node = 0; node < kNodes; ++node) {
    const double share = node / (kNodes - 1.0),
                 weight = (node == 0 || node == kNodes - 1 ? 0.5 : 1) / (kNodes - 1);
    std::vector<double> point(to.size());
    for (size_t i = 0; i < to.size(); ++i) point[i] = from[i] + share * (to[i] - from[i]);
    const auto slopes = explained.slopes(
        Depth::kInput,
        {Tensor::of<double>(input.shape(), std::span<const double>(point)).cast(input.dtype())});
    const std::vector<double> slope = slopes[0].gradient.to_doubles();
    for (size_t i = 0; i < to.size(); ++i)
      expected[i / input.dim(1)] += weight * slope[i] * (to[i] - from[i]);
  }
  const auto by = [&](const std::string& rule) {
    return scores(explained, kIntegratedGradients, {{"rule", rule}, {"steps", int64_t{kNodes}}});
  };
  const std::vector<double> plain = by("trapezoid"), captum = by("captum-trapezoid");
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(plain[i], expected[i], 1e-6) << i;
    EXPECT_NEAR(captum[i], expected[i] * (kNodes - 1) / kNodes, 1e-6) << i;
  }
}

}  // namespace
}  // namespace whyformer
