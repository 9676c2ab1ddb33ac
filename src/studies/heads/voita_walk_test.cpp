#include "studies/heads/voita_walk.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tensor/map.h"
#include "tests/support/heads_test_helpers.h"

namespace whyformer::voita {
namespace {

std::vector<Tensor> relevance_in(const GoldenModel& golden, AttentionMaps maps,
                                 DType dtype = DType::kFloat64) {
  const GoldenInput& input = golden.input("pair");
  const auto graph = golden.model->graph({.tokens = input.tokens(), .dtype = dtype});
  const Pass pass = run(graph->graph, golden.model->feeds(*graph, input.batch),
                        {.keep = Keep::kEverything, .outputs = {graph->output}});
  return relevance_of_heads(*graph, pass, input.targets[0], maps);
}

TEST(VoitaWalk, GivesNoHeadLessThanNothingAndNoLayerMoreThanThereIs) {
  for (const std::string name : {"bert", "albert-shared", "distilbert", "electra", "roberta"}) {
    const GoldenModel golden(name);
    for (const AttentionMaps maps : {AttentionMaps::kFunction, AttentionMaps::kConstant}) {
      for (const Tensor& layer : relevance_in(golden, maps)) {
        for (const double share : layer.to_doubles()) EXPECT_GE(share, 0) << name;
        EXPECT_GT(sums_of(layer).plain, 0) << name;
        EXPECT_LT(sums_of(layer).plain, 1) << name << ": the skip path takes a part";
      }
    }
  }
}

TEST(VoitaWalk, InFloatIsCloseToDouble) {
  const GoldenModel golden("bert");
  const auto exact = relevance_in(golden, AttentionMaps::kFunction);
  const auto rough = relevance_in(golden, AttentionMaps::kFunction, DType::kFloat32);
  for (size_t layer = 0; layer < exact.size(); ++layer) {
    const std::vector<double> a = sample_sums(exact[layer]), b = sample_sums(rough[layer]);
    for (size_t head = 0; head < a.size(); ++head) EXPECT_NEAR(a[head], b[head], 1e-5);
  }
}

TEST(VoitaLrp, SharesOfALayerAddUpToOne) {
  const GoldenModel golden("roberta");
  for (const bool constant : {false, true}) {
    HeadsRequest request;
    request.attention_constant = constant;
    for (const auto& layer : scores_of(golden, "voita-lrp", corpus_of(golden), request)) {
      double total = 0;
      for (const double share : layer) total += share;
      EXPECT_NEAR(total, 1, 1e-12);
    }
  }
}

TEST(VoitaLrp, GivesAHeadThatNobodyReadsItsPartOfTheBiasAndNothingElse) {
  const GoldenModel biased("bert", [](auto& weights) { forget_head(weights, 0, 1, 24, 12); });
  EXPECT_GT(scores_of(biased, "voita-lrp", corpus_of(biased))[0][1], 1e-6);
  const GoldenModel plain("bert", [](auto& weights) {
    forget_head(weights, 0, 1, 24, 12);
    auto& bias = weights.at("bert.encoder.layer.0.attention.output.dense.bias");
    std::fill(bias.begin(), bias.end(), 0.0f);
  });
  EXPECT_EQ(scores_of(plain, "voita-lrp", corpus_of(plain))[0][1], 0);
}

}  // namespace
}  // namespace whyformer::voita
