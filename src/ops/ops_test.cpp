#include "ops/ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/pass.h"
#include "graph/walk_back.h"
#include "tests/support/check_op.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Inputs = std::vector<Value>;

std::shared_ptr<const LinearWeights> linear_weights(int64_t out, int64_t in, DType dtype,
                                                    bool bias = true) {
  return std::make_shared<LinearWeights>(
      random_tensor({out, in}, DType::kFloat32, 7).cast(dtype),
      bias ? random_tensor({out}, DType::kFloat32, 8).cast(dtype) : Tensor());
}

TEST(Add, PassesGradientsToBothSides) {
  check_op({.build = [](auto& g, const Inputs& x, DType) { return add(g, x[0], x[1], "add"); },
            .inputs = {{2, 3, 4}, {2, 3, 4}}});
}

TEST(Add, SumsGradientsOverBroadcastAxes) {
  check_op({.build = [](auto& g, const Inputs& x, DType) { return add(g, x[0], x[1], "add"); },
            .inputs = {{2, 3, 4}, {3, 1}}});
  check_op({.build = [](auto& g, const Inputs& x, DType) { return add(g, x[0], x[1], "add"); },
            .inputs = {{4}, {2, 3, 4}}});
}

TEST(Add, OfShapesThatDoNotFitNamesBoth) {
  GraphBuilder graph;
  const Value a = graph.input("a", {2, 3}, DType::kFloat32);
  const Value b = graph.input("b", {2, 4}, DType::kFloat32);
  try {
    add(graph, a, b, "sum");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "Add 'sum': shapes [2, 3] and [2, 4] do not fit together");
  }
}

TEST(Activation, SlopesOfEveryFunctionAreItsDerivative) {
  for (const ActivationFunction f :
       {ActivationFunction::kGelu, ActivationFunction::kGeluTanh, ActivationFunction::kTanh,
        ActivationFunction::kSilu, ActivationFunction::kSigmoid, ActivationFunction::kRelu}) {
    check_op({.build = [f](auto& g, const Inputs& x, DType) { return activation(g, x[0], f, "f"); },
              .inputs = {{5, 7}},
              .smallest_input = -4,
              .largest_input = 4});
  }
}

TEST(Embedding, PicksRowsAndRefusesIdsOutsideTheTable) {
  GraphBuilder builder;
  const Value ids = builder.input("ids", {1, 3}, DType::kInt64);
  const Value rows = embedding(builder, ids, random_tensor({4, 2}, DType::kFloat32, 1), "table");
  const Graph graph = builder.finish();
  const std::vector<double> table = random_tensor({4, 2}, DType::kFloat32, 1).to_doubles();
  const Pass pass =
      run(graph, {{ids, Tensor::of<int64_t>({1, 3}, {3l, 0l, 3l})}}, {.outputs = {rows}});
  EXPECT_THAT(pass[rows].to_doubles(),
              testing::ElementsAre(table[6], table[7], table[0], table[1], table[6], table[7]));
  for (const int64_t bad : {int64_t{4}, int64_t{-1}}) {
    EXPECT_THROW(
        run(graph, {{ids, Tensor::of<int64_t>({1, 3}, {0l, bad, 0l})}}, {.outputs = {rows}}),
        InvalidInput);
  }
}

TEST(L2Normalise, HasUnitRowsAndTheirGradient) {
  check_op({.build = [](auto& g, const Inputs& x, DType) { return l2_normalise(g, x[0], "n"); },
            .inputs = {{3, 5}}});
}

TEST(LayerNorm, GradientIncludesMeanAndDeviation) {
  check_op({.build =
                [](auto& g, const Inputs& x, DType dtype) {
                  const auto w = random_tensor({19}, DType::kFloat32, 3, 0.5, 2).cast(dtype);
                  const auto b = random_tensor({19}, DType::kFloat32, 4).cast(dtype);
                  return layer_norm(g, x[0], {w, b, 1e-5}, "norm");
                },
            .inputs = {{2, 3, 19}}});
}

TEST(Linear, MultipliesByTheTransposedWeight) {
  check_op({.build = [](auto& g, const Inputs& x,
                        DType dtype) { return linear(g, x[0], linear_weights(5, 3, dtype), "l"); },
            .inputs = {{2, 4, 3}}});
}

TEST(Linear, WorksOnStridedInput) {
  check_op({.build =
                [](auto& g, const Inputs& x, DType dtype) {
                  const Value turned = transpose(g, x[0], {1, 0}, "t");
                  return linear(g, turned, linear_weights(17, 3, dtype, false), "l");
                },
            .inputs = {{3, 4}}});
}

// Rows of zeros in front, between and behind; the memory of what is not multiplied was used before.
TEST(Linear, GivesRowsWithoutGradientZeros) {
  const auto weights = linear_weights(5, 3, DType::kFloat32);
  const Tensor dy = random_tensor({7, 5}, DType::kFloat32, 1);
  const Tensor whole = weights->apply(dy, Direction::kBackward);
  for (const std::vector<int64_t>& kept : std::vector<std::vector<int64_t>>{{2, 4}, {0}, {6}, {}}) {
    Tensor some = Tensor::zeros({7, 5}), expected = Tensor::zeros({7, 3});
    for (const int64_t row : kept) {
      some.slice(0, row, 1).copy_from(dy.slice(0, row, 1));
      expected.slice(0, row, 1).copy_from(whole.slice(0, row, 1));
    }
    Tensor::empty({7, 3}).fill(9);
    EXPECT_EQ(weights->apply(some, Direction::kBackward).to_doubles(), expected.to_doubles());
  }
}

TEST(Linear, NamesBothSizesWhenTheyDiffer) {
  GraphBuilder graph;
  const Value x = graph.input("x", {2, 4}, DType::kFloat32);
  try {
    linear(graph, x, linear_weights(5, 3, DType::kFloat32), "encoder.query");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(),
                 "Linear 'encoder.query': the input has 4 columns but the weight takes 3");
  }
}

TEST(MatMul, OfStackedHeadsAndTransposedOperands) {
  const auto build = [](auto& g, const Inputs& x, DType) { return matmul(g, x[0], x[1], "m"); };
  check_op({.build = build, .inputs = {{2, 3, 4, 5}, {2, 3, 5, 6}}});
  check_op({.build = build, .inputs = {{4, 5}, {5, 2}}});
  check_op({.build = build, .inputs = {{2, 1, 4, 5}, {1, 3, 5, 6}}});
  check_op(
      {.build = [](auto& g, const Inputs& x,
                   DType) { return matmul(g, x[0], transpose(g, x[1], {0, 1, 3, 2}, "t"), "m"); },
       .inputs = {{1, 2, 7, 3}, {1, 2, 9, 3}}});
}

TEST(MatMul, WritesInTheOrderOfTheTranspositionAfterIt) {
  const auto merged_heads = [](auto& g, const Inputs& x, DType) {
    const Value merged = transpose(g, matmul(g, x[0], x[1], "m"), {0, 2, 1, 3}, "t");
    return reshape(g, merged, {1, 4, 6}, "r");
  };
  check_op({.build = merged_heads, .inputs = {{1, 2, 4, 5}, {1, 2, 5, 3}}});
}

TEST(Mean, SharesItsGradientEqually) {
  for (const int axis : {0, 1, 2}) {
    check_op({.build = [axis](auto& g, const Inputs& x, DType) { return mean(g, x[0], axis, "m"); },
              .inputs = {{2, 3, 4}}});
  }
}

TEST(Reshape, FollowsAxesThatGoThroughWhole) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 1, 6}, DType::kFloat32);
  reshape(builder, x, {1, 1, 2, 3}, "split");
  const Graph graph = builder.finish();
  const std::vector<ValueType> types{graph.type(x)};
  const Op& op = *graph.nodes()[0].op;
  // Batch and tokens both have length 1 and must not be mixed up.
  EXPECT_EQ(op.follow(0, types)->sources[0], 0);
  EXPECT_EQ(op.follow(1, types)->sources[0], 1);
  EXPECT_FALSE(op.follow(2, types).has_value());
  check_op(
      {.build = [](auto& g, const Inputs& v, DType) { return reshape(g, v[0], {2, 3, 2, 2}, "r"); },
       .inputs = {{2, 3, 4}}});
}

TEST(Slice, GivesTheOtherPositionsNoGradient) {
  check_op({.build = [](auto& g, const Inputs& x, DType) { return slice(g, x[0], 1, 2, 1, "s"); },
            .inputs = {{2, 4, 3}}});
}

TEST(Softmax, GradientWithScaleAndMask) {
  check_op(
      {.build = [](auto& g, const Inputs& x, DType) { return softmax(g, x[0], Value{}, 0.7, "s"); },
       .inputs = {{2, 2, 3, 5}}});
  check_op(
      {.build = [](auto& g, const Inputs& x, DType) { return softmax(g, x[0], x[1], 0.7, "s"); },
       .inputs = {{2, 2, 3, 5}, {2, 1, 1, 5}},
       .constant = {false, true}});
}

TEST(Softmax, GivesMaskedKeysExactlyZero) {
  GraphBuilder builder;
  const Value scores = builder.input("scores", {1, 1, 2, 3}, DType::kFloat32);
  const Value mask = builder.input("mask", {1, 1, 1, 3}, DType::kFloat32);
  const Value p = softmax(builder, scores, mask, 1, "softmax");
  const Graph graph = builder.finish();
  const float hidden = -std::numeric_limits<float>::infinity();
  const Pass pass = run(graph,
                        {{scores, Tensor::of<float>({1, 1, 2, 3}, {1.f, 2.f, 9.f, 0.f, 0.f, 9.f})},
                         {mask, Tensor::of<float>({1, 1, 1, 3}, {0.f, 0.f, hidden})}},
                        {.outputs = {p}});
  const std::vector<double> values = pass[p].to_doubles();
  EXPECT_EQ(values[2], 0);
  EXPECT_EQ(values[5], 0);
  EXPECT_NEAR(values[0], 1 / (1 + std::exp(1.0)), 1e-7);
  EXPECT_NEAR(values[3], 0.5, 1e-7);
}

TEST(Concat, JoinsAlongAnAxis) {
  check_op({.build = [](auto& g, const Inputs& x, DType) { return concat(g, x[0], x[1], 1, "c"); },
            .inputs = {{2, 1, 4}, {2, 3, 4}}});
}

TEST(Transpose, MovesGradientsBack) {
  check_op(
      {.build = [](auto& g, const Inputs& x, DType) { return transpose(g, x[0], {2, 0, 1}, "t"); },
       .inputs = {{2, 3, 4}}});
}

}  // namespace
}  // namespace whyformer
