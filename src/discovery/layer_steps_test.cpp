// Layers are told apart from the operators alone; names only say what is expected.
#include "discovery/layer_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ops/ops.h"
#include "tests/support/plain_encoder.h"
#include "tests/support/small_attention.h"

namespace whyformer {
namespace {

constexpr int64_t kTokens = 5;

// What a node's name in a PlainEncoder's graph says.
int step_by_name(const std::string& name, int layers) {
  return name.starts_with("layer") ? layers - (name[5] - '0') : 0;
}

bool has_weights(const Node& node) { return is_a<ops::Linear, ops::LayerNorm>(*node.op); }

void check_steps(const EncoderGraph& built, int layers) {
  const LayerSteps steps = find_layer_steps(built.graph, built.found.sites, built.output, {});
  EXPECT_EQ(steps.layers, layers);
  int seen = 0;
  for (size_t i = 0; i < built.graph.nodes().size(); ++i) {
    const Node& node = built.graph.nodes()[i];
    if (!has_weights(node)) continue;
    EXPECT_EQ(steps.of_node[i], step_by_name(node.name, layers)) << node.name;
    ++seen;
  }
  EXPECT_GE(seen, 8 * layers + 1);
}

TEST(LayerSteps, FollowTheLayersOfEncodersThatNormaliseBeforeOrAfter) {
  for (const bool norms_before : {false, true}) {
    for (const int layers : {1, 2, 4}) {
      for (const bool restricted : {false, true}) {
        const PlainEncoder encoder =
            random_encoder({.layers = layers, .norms_before = norms_before}, 1);
        check_steps(graph_of(encoder, {.tokens = kTokens, .restrict_rows = restricted}), layers);
      }
    }
  }
}

TEST(LayerSteps, OfAModelThatReadsTheMeanAreTheSame) {
  PlainEncoder encoder = random_encoder({.layers = 3, .norms_before = true}, 2);
  encoder.reads_mean = true;
  check_steps(graph_of(encoder, {.tokens = kTokens}), 3);
}

TEST(LayerSteps, WhatEntersTheFirstLayerIsTheEmbeddings) {
  const PlainEncoder encoder = random_encoder({.layers = 2}, 3);
  GraphBuilder builder;
  const Value ids = builder.input("ids", {1, kTokens}, DType::kInt64);
  const Value words = embedding(builder, ids, Tensor::zeros({9, 8}, DType::kFloat64), "words");
  const Value table = builder.constant(Tensor::zeros({1, kTokens, 8}, DType::kFloat64), "table");
  const Value stream = encoder_layers(builder, encoder, add(builder, words, table, "positions"));
  const Value output = mean(builder, stream, 1, "mean");
  const Graph graph = builder.finish();
  const LayerSteps steps = find_layer_steps(graph, discover(graph, output).sites, output, {});
  std::set<std::string> first;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    if (steps.of_node[i] == 3) first.insert(graph.nodes()[i].name);
  }
  EXPECT_THAT(first, testing::ElementsAre("positions", "table", "words"));
  EXPECT_EQ(steps.name(0), "head");
  EXPECT_EQ(steps.name(1), "layer 1");
  EXPECT_EQ(steps.name(2), "layer 0");
  EXPECT_EQ(steps.name(3), "embeddings");
}

// The invariant that the rule is made for, whatever the shape of the model: two streams that
// attend to each other, and one that is added later.
TEST(LayerSteps, NoMapDependsOnAStepNearerToTheOutputThanItsOwn) {
  SmallAttention model;
  Value a = model.stream("a", kTokens), b = model.stream("b", 3);
  a = model.layer(a, a, "a self");
  b = model.layer(b, b, "b self");
  const Value crossed = model.layer(a, b, "a to b");
  b = model.layer(b, a, "b to a");
  a = model.layer(crossed, b, "a to b again");
  const Value output = mean(model.graph, a, 1, "mean");
  const Graph graph = model.graph.finish();
  const std::vector<AttentionSite> sites = discover(graph, output).sites;
  ASSERT_EQ(sites.size(), 5u);
  const LayerSteps steps = find_layer_steps(graph, sites, output, {});
  for (const AttentionSite& site : sites) {
    const int own = steps.of_node[graph.producer(site.attention)];
    std::vector<Value> open{site.attention};
    while (!open.empty()) {
      const int node = graph.producer(open.back());
      open.pop_back();
      if (node < 0) continue;
      EXPECT_GE(steps.of_node[node], own) << site.name << " reads " << graph.nodes()[node].name;
      for (const Value input : graph.nodes()[node].inputs) open.push_back(input);
    }
  }
}

TEST(LayerSteps, WithoutAttentionAreTheMatricesFromTheOutput) {
  GraphBuilder builder;
  const auto weights = [](int64_t out, int64_t in) {
    return std::make_shared<LinearWeights>(Tensor::zeros({out, in}), Tensor());
  };
  const Value x = builder.input("x", {1, 3}, DType::kFloat32);
  Value y = activation(builder, linear(builder, x, weights(4, 3), "first"),
                       ActivationFunction::kRelu, "f");
  y = activation(builder, linear(builder, y, weights(4, 4), "second"), ActivationFunction::kRelu,
                 "g");
  const Value output = linear(builder, y, weights(2, 4), "third");
  const Graph graph = builder.finish();
  std::vector<bool> has_matrix;
  for (const Node& node : graph.nodes()) has_matrix.push_back(is_a<ops::Linear>(*node.op));
  const LayerSteps steps = find_layer_steps(graph, {}, output, has_matrix);
  EXPECT_THAT(steps.of_node, testing::ElementsAre(2, 2, 1, 1, 0));
  EXPECT_EQ(steps.layers, 2);
  EXPECT_EQ(steps.name(2), "layer 0");
  EXPECT_EQ(steps.name(0), "head");
}

}  // namespace
}  // namespace whyformer
