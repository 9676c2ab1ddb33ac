// An operator with other weights is the operator that was built with them.
#include "graph/held_weights.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "graph/pass.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

Tensor numbers(const Shape& shape, int64_t seed, DType dtype = DType::kFloat32) {
  const CounterRandom random(seed, "numbers", 0);
  std::vector<double> values;
  for (int64_t i = 0; i < element_count(shape); ++i) values.push_back(random.normal(i));
  return Tensor::of<double>(shape, std::span<const double>(values)).cast(dtype);
}

// Builds the node under test from its weights.
using Build = std::function<Value(GraphBuilder&, Value x, const Tensors& weights)>;

void check(const Build& build, const Tensor& x, const std::vector<HeldWeight>& expected) {
  const auto weights_from = [&](int64_t seed) {
    Tensors weights;
    for (const HeldWeight& one : expected)
      weights.push_back(numbers(one.shape, seed + static_cast<int64_t>(weights.size())));
    return weights;
  };
  const auto graph_with = [&](const Tensors& weights) {
    GraphBuilder builder;
    build(builder, builder.input("x", x.shape(), x.dtype()), weights);
    return builder.finish();
  };
  const auto result = [&](const Graph& graph) {
    const Value output = graph.nodes().back().outputs[0];
    return run(graph, {{graph.inputs()[0], x}}, {.outputs = {output}})[output].to_doubles();
  };
  const Graph own = graph_with(weights_from(1)), other = graph_with(weights_from(50));
  const HoldsWeights* holder = weight_holder(*own.nodes().back().op);
  ASSERT_NE(holder, nullptr);
  const std::vector<HeldWeight> held = holder->held_weights();
  ASSERT_EQ(held.size(), expected.size());
  Tensors replaced;
  for (size_t i = 0; i < held.size(); ++i) {
    EXPECT_EQ(held[i].kind, expected[i].kind);
    EXPECT_EQ(element_count(held[i].shape), element_count(expected[i].shape));
    replaced.push_back(weights_from(50)[i].reshape(held[i].shape));
  }
  GraphBuilder builder(own, Folding::kNo);
  builder.replace(own.nodes().size() - 1, holder->with_weights(replaced));
  EXPECT_EQ(result(builder.finish()), result(other));
  EXPECT_NE(result(own), result(other));
}

TEST(HeldWeights, OfALinearLayer) {
  const Build with_bias = [](GraphBuilder& graph, Value x, const Tensors& w) {
    return linear(graph, x, std::make_shared<LinearWeights>(w[0], w[1]), "w");
  };
  check(with_bias, numbers({2, 3}, 9), {{WeightKind::kMatrix, {4, 3}}, {WeightKind::kBias, {4}}});
  const Build without = [](GraphBuilder& graph, Value x, const Tensors& w) {
    return linear(graph, x, std::make_shared<LinearWeights>(w[0], Tensor()), "w");
  };
  check(without, numbers({2, 3}, 9), {{WeightKind::kMatrix, {4, 3}}});
}

TEST(HeldWeights, OfNorms) {
  const Build layer = [](GraphBuilder& graph, Value x, const Tensors& w) {
    return layer_norm(graph, x, {w[0], w[1], 0.5}, "norm");
  };
  check(layer, numbers({2, 5}, 9), {{WeightKind::kScale, {5}}, {WeightKind::kBias, {5}}});
  const Build root_mean_square = [](GraphBuilder& graph, Value x, const Tensors& w) {
    return rms_norm(graph, x, w[0], 0.5, "norm");
  };
  check(root_mean_square, numbers({2, 5}, 9), {{WeightKind::kScale, {5}}});
}

TEST(HeldWeights, OfEmbeddings) {
  const Build table = [](GraphBuilder& graph, Value x, const Tensors& w) {
    return embedding(graph, x, w[0], "table");
  };
  check(table, Tensor::of<int64_t>({1, 3}, {4, 0, 4}), {{WeightKind::kMatrix, {5, 2}}});
}

TEST(HeldWeights, OfConvolutionsInGroups) {
  for (const int64_t groups : {1, 2}) {
    Window window{.kernel = {3}, .groups = groups};
    const Build forward = [&](GraphBuilder& graph, Value x, const Tensors& w) {
      return convolution(graph, x, w[0], w[1], window, "conv");
    };
    check(forward, numbers({2, 4, 6}, 9),
          {{WeightKind::kMatrix, {2, 4 / groups, 3}}, {WeightKind::kBias, {2}}});
    const Build transposed = [&](GraphBuilder& graph, Value x, const Tensors& w) {
      return transposed_convolution(graph, x, w[0], w[1], window, {}, "conv");
    };
    check(transposed, numbers({2, 4, 6}, 9),
          {{WeightKind::kMatrix, {4, 2 / groups, 3}}, {WeightKind::kBias, {2}}});
  }
}

TEST(HeldWeights, AreNoneInOperatorsThatComputeOnly) {
  GraphBuilder builder;
  const Value x = builder.input("x", {2, 3}, DType::kFloat32);
  activation(builder, x, ActivationFunction::kRelu, "relu");
  EXPECT_EQ(weight_holder(*builder.finish().nodes().back().op), nullptr);
}

}  // namespace
}  // namespace whyformer
