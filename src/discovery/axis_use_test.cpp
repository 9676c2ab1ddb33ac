#include "discovery/axis_use.h"

#include <gtest/gtest.h>

#include "ops/ops.h"

namespace whyformer {
namespace {

Value weights(GraphBuilder& graph, Value x, int64_t out) {
  const int64_t in = graph.shape(x).back();
  return linear(
      graph, x,
      std::make_shared<LinearWeights>(Tensor::zeros({out, in}, DType::kFloat32), Tensor()),
      "linear");
}

// Attention among tokens [tokens, batch, 8] with two heads in the axis of the batch, as bmm is
// spelled.
struct Attended {
  Attended(int64_t tokens, int64_t batch) {
    x = graph.input("x", {tokens, batch, 8}, DType::kFloat32);
    const auto heads = [&] {
      const Value split = reshape(graph, weights(graph, x, 8), {tokens, 2 * batch, 4}, "split");
      return transpose(graph, split, {1, 0, 2}, "heads");
    };
    const Value scores =
        matmul(graph, heads(), transpose(graph, heads(), {0, 2, 1}, "keys"), "scores");
    const Value mixed = matmul(graph, softmax(graph, scores, {}, 1, "map"), heads(), "mixed");
    y = reshape(graph, transpose(graph, mixed, {1, 0, 2}, "back"), {tokens, batch, 8}, "merged");
  }
  GraphBuilder graph;
  Value x, y;
};

TEST(AxisUse, ABatchStaysApartWhereHeadsShareItsAxis) {
  for (const int64_t tokens : {2, 3, 5}) {
    Attended model(tokens, 3);
    const Graph graph = model.graph.finish();
    const AxisUse batch(graph, model.x, 1), along(graph, model.x, 0);
    EXPECT_TRUE(batch.stays_apart());
    EXPECT_FALSE(batch.has_attention());
    EXPECT_EQ(batch.axis_in(model.y), 1);
    EXPECT_FALSE(along.stays_apart());
    EXPECT_TRUE(along.has_attention());
  }
}

TEST(AxisUse, TokensAreFollowedWhereOthersArePutBesideThem) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {5, 2, 4}, DType::kFloat32);
  const Value start = graph.constant(Tensor::zeros({1, 2, 4}, DType::kFloat32), "start");
  const Value all = transpose(graph, concat(graph, start, x, 0, "all"), {1, 0, 2}, "moved");
  const Value scores = matmul(graph, all, transpose(graph, all, {0, 2, 1}, "keys"), "scores");
  matmul(graph, softmax(graph, scores, {}, 1, "map"), all, "mixed");
  const Graph built = graph.finish();
  EXPECT_TRUE(AxisUse(built, x, 0).has_attention());
  EXPECT_FALSE(AxisUse(built, x, 0).stays_apart());
  EXPECT_TRUE(AxisUse(built, x, 1).stays_apart());
}

TEST(AxisUse, ASoftmaxThatNothingIsMultipliedWithIsNoAttention) {
  GraphBuilder graph;
  const Value x = graph.input("x", {3, 4}, DType::kFloat32);
  const Value answers = weights(graph, x, 2);
  softmax(graph, transpose(graph, answers, {1, 0}, "by answer"), {}, 1, "among the batch");
  const Graph built = graph.finish();
  const AxisUse batch(built, x, 0);
  EXPECT_FALSE(batch.stays_apart());
  EXPECT_FALSE(batch.has_attention());
}

TEST(AxisUse, PairsOfPositionsAreNotApart) {
  GraphBuilder graph;
  const Value x = graph.input("x", {3, 4}, DType::kFloat32);
  const Value pairs = matmul(graph, x, transpose(graph, x, {1, 0}, "turned"), "similarity");
  const Graph built = graph.finish();
  EXPECT_FALSE(AxisUse(built, x, 0).stays_apart());
  EXPECT_TRUE(AxisUse(built, x, 0).axis_in(pairs).has_value());
}

}  // namespace
}  // namespace whyformer
