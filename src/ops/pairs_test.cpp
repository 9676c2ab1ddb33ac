// Two operators in one step give what they give one after the other.
#include <gtest/gtest.h>

#include "graph/pass.h"
#include "graph/walk_back.h"
#include "ops/ops.h"
#include "tests/support/check_op.h"
#include "tests/support/every_target.h"

namespace whyformer {
namespace {

struct TwoNodes {
  Graph graph;
  std::vector<Value> inputs;
  Value between, output;
};

// softmax(queries · keysᵀ / 8 + mask), heads split as models do.
TwoNodes attention(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t width,
                   bool masked) {
  GraphBuilder builder;
  TwoNodes nodes;
  const auto split = [&](const char* name, int64_t tokens) {
    const Value rows = builder.input(name, {batch, tokens, heads * width}, DType::kFloat32);
    nodes.inputs.push_back(rows);
    const Value heads_apart = reshape(builder, rows, {batch, tokens, heads, width}, name);
    return transpose(builder, heads_apart, {0, 2, 1, 3}, name);
  };
  const Value query = split("queries", queries);
  const Value key = transpose(builder, split("keys", keys), {0, 1, 3, 2}, "keys");
  Value mask;
  if (masked) {
    mask = builder.input("mask", {batch, 1, 1, keys}, DType::kFloat32, InputRole::kGiven);
    nodes.inputs.push_back(mask);
  }
  nodes.between = matmul(builder, query, key, "scores");
  nodes.output = softmax(builder, nodes.between, mask, 0.125, "weights");
  nodes.graph = builder.finish();
  return nodes;
}

TwoNodes feed_forward(int64_t rows, int64_t in, int64_t out) {
  GraphBuilder builder;
  TwoNodes nodes;
  const Value x = builder.input("x", {1, rows, in}, DType::kFloat32);
  nodes.inputs.push_back(x);
  const auto weights = std::make_shared<LinearWeights>(random_tensor({out, in}, DType::kFloat32, 7),
                                                       random_tensor({out}, DType::kFloat32, 8));
  nodes.between = linear(builder, x, weights, "inner");
  nodes.output = activation(builder, nodes.between, ActivationFunction::kGelu, "gelu");
  nodes.graph = builder.finish();
  return nodes;
}

Feeds random_feeds(const TwoNodes& nodes) {
  Feeds feeds;
  int seed = 1;
  for (const Value input : nodes.inputs) {
    feeds[input] = random_tensor(nodes.graph.shape(input), DType::kFloat32, seed++, -2, 2);
  }
  return feeds;
}

void expect_the_same_values(const TwoNodes& nodes) {
  const Feeds feeds = random_feeds(nodes);
  const Pass together = run(nodes.graph, feeds, {.outputs = {nodes.output}});
  const Pass apart = run(nodes.graph, feeds, {.outputs = {nodes.between, nodes.output}});
  ASSERT_FALSE(together[nodes.between].defined());
  ASSERT_TRUE(apart[nodes.between].defined());
  EXPECT_EQ(together[nodes.output].to_doubles(), apart[nodes.output].to_doubles());
}

// Gradients with respect to the inputs, with or without a stop at what lies between.
std::vector<std::vector<double>> gradients(const TwoNodes& nodes, const Tensor& seed,
                                           bool stop_between) {
  const Pass pass =
      run(nodes.graph, random_feeds(nodes), {.keep = Keep::kGradients, .outputs = {nodes.output}});
  std::vector<Value> wanted = nodes.inputs;
  if (stop_between) wanted.push_back(nodes.between);
  const auto found = walk_back(nodes.graph, pass, nodes.output, seed, gradient_rule(), wanted);
  std::vector<std::vector<double>> result;
  for (const Value input : nodes.inputs) result.push_back(found.at(input).to_doubles());
  return result;
}

void expect_the_same_gradients(const TwoNodes& nodes, const Tensor& seed) {
  const auto together = gradients(nodes, seed, false);
  const auto apart = gradients(nodes, seed, true);
  for (size_t input = 0; input < together.size(); ++input) {
    double largest = 0;
    for (const double value : apart[input]) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < apart[input].size(); ++i) {
      ASSERT_NEAR(together[input][i], apart[input][i], 1e-5 * largest) << input << ", " << i;
    }
  }
}

Tensor random_seed(const TwoNodes& nodes) {
  return random_tensor(nodes.graph.shape(nodes.output), DType::kFloat32, 9);
}

// Whole heads, several blocks of rows, more columns than are packed at a time, one row, a batch,
// heads of one column.
std::vector<TwoNodes> attentions() {
  std::vector<TwoNodes> cases;
  cases.push_back(attention(1, 3, 17, 17, 8, false));
  cases.push_back(attention(1, 2, 300, 300, 16, false));
  cases.push_back(attention(2, 2, 130, 600, 8, true));
  cases.push_back(attention(1, 1, 1, 40, 8, true));
  cases.push_back(attention(1, 12, 9, 9, 1, false));
  cases.push_back(attention(2, 3, 70, 5, 1, true));
  return cases;
}

TEST(AttentionWeights, AreThoseOfAProductAndASoftmaxBitForBit) {
  for_every_target([] {
    for (const TwoNodes& nodes : attentions()) expect_the_same_values(nodes);
  });
}

TEST(AttentionWeights, HaveTheGradientsOfAProductAndASoftmax) {
  for_every_target([] {
    for (const TwoNodes& nodes : attentions()) expect_the_same_gradients(nodes, random_seed(nodes));
  });
}

TEST(AttentionWeights, PassFiniteDifferences) {
  for (const int64_t width : {4, 1}) {
    check_op({.build =
                  [](GraphBuilder& graph, const std::vector<Value>& in, DType) {
                    const Value keys = transpose(graph, in[1], {0, 1, 3, 2}, "keys");
                    const Value scores = matmul(graph, in[0], keys, "scores");
                    return softmax(graph, scores, in[2], 0.5, "weights");
                  },
              .inputs = {{2, 3, 5, width}, {2, 3, 7, width}, {2, 1, 1, 7}},
              .constant = {false, false, true}});
  }
}

// As where one token is read; of one head nothing at all.
TEST(AttentionWeights, HaveTheirGradientsWhereOnlySomeRowsAreReached) {
  const TwoNodes nodes = attention(1, 3, 300, 300, 8, false);
  Tensor seed = Tensor::zeros({1, 3, 300, 300});
  for (const int64_t row : {7, 9, 290}) {
    Tensor reached = seed.slice(1, 0, 2).slice(2, row, 1);
    reached.copy_from(random_tensor({1, 2, 1, 300}, DType::kFloat32, 3));
  }
  expect_the_same_gradients(nodes, seed);
}

// A score that somebody asks for is made.
TEST(AttentionWeights, AreNotPairedWhereTheScoresAreFed) {
  const TwoNodes nodes = attention(1, 2, 5, 5, 4, false);
  Feeds feeds = random_feeds(nodes);
  feeds[nodes.between] = Tensor::zeros(nodes.graph.shape(nodes.between));
  const Pass pass = run(nodes.graph, feeds, {.outputs = {nodes.output}});
  for (const double weight : pass[nodes.output].to_doubles()) EXPECT_FLOAT_EQ(weight, 0.2);
}

TEST(LinearActivation, IsThatOfALinearAndAnActivationBitForBit) {
  for_every_target([] {
    expect_the_same_values(feed_forward(1, 5, 3));
    expect_the_same_values(feed_forward(130, 40, 300));
    const TwoNodes wide = feed_forward(130, 40, 300);
    expect_the_same_gradients(wide, random_seed(wide));
  });
}

}  // namespace
}  // namespace whyformer
