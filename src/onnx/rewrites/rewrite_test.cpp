// Spellings that exporters use, written by hand: which operators take their place.
#include "onnx/rewrites/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "discovery/attention_sites.h"
#include "graph/pass.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "ops/quantised.h"

namespace whyformer::onnx {
namespace {

using testing::ElementsAre;

Tensor numbers(Shape shape) {
  std::vector<float> values(element_count(shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((7 * i) % 11) - 4.5f;
  return Tensor::of<float>(std::move(shape), std::span<const float>(values));
}

// The kinds of what is left of a graph, without constants. Its values must stay the same.
std::vector<std::string> kinds_after_rewriting(GraphBuilder& builder, Value x, Value y) {
  const Graph graph = builder.finish();
  const auto own_weights = [](const Tensor& weight, const Tensor& bias) {
    return std::make_shared<LinearWeights>(weight.contiguous(), bias);
  };
  const Rewritten rewritten = rewrite(graph, {y}, 2, own_weights);
  const Value new_y = rewritten.new_value[y.id];
  const Tensor given = numbers(graph.shape(x));
  const Pass before = run(graph, {{x, given}}, {.outputs = {y}});
  const Pass after =
      run(rewritten.graph, {{rewritten.new_value[x.id], given}}, {.outputs = {new_y}});
  EXPECT_THAT(after[new_y].to_doubles(),
              testing::Pointwise(testing::DoubleNear(1e-5), before[y].to_doubles()));
  std::vector<std::string> kinds;
  for (const Node& node : rewritten.graph.nodes()) {
    if (!is_a<Constant>(*node.op)) kinds.emplace_back(node.op->kind());
  }
  return kinds;
}

Value constant(GraphBuilder& graph, float number) {
  return graph.constant(Tensor::of<float>({}, std::span<const float>(&number, 1)), "number");
}

TEST(Rewrites, ALinearThatGivesOneNumberStays) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {4}, DType::kFloat32);
  const auto weights = std::make_shared<LinearWeights>(numbers({1, 4}), Tensor());
  const Value row = linear(graph, reshape(graph, x, {1, 4}, "row"), weights, "product");
  const Value y = reshape(graph, row, {}, "number");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Reshape", "Linear", "Reshape"));
}

TEST(Rewrites, AScaleOfEachOutputBecomesPartOfTheLinear) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {2, 3, 4}, DType::kFloat32);
  const auto weights =
      std::make_shared<LinearWeights>(numbers({4, 5}).transpose(0, 1), numbers({5}));
  const Value scale = graph.constant(numbers({5}), "scale");
  const Value y = binary(graph, scale, linear(graph, x, weights, "product"),
                         BinaryFunction::kMultiply, "scaled");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Linear"));
}

TEST(Rewrites, AScaleStaysWhereTheLinearIsReadElsewhereToo) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {2, 3, 4}, DType::kFloat32);
  const Value product =
      linear(graph, x, std::make_shared<LinearWeights>(numbers({5, 4}), Tensor()), "product");
  const Value scaled = binary(graph, product, graph.constant(numbers({5}), "scale"),
                              BinaryFunction::kMultiply, "scaled");
  const Value y = add(graph, scaled, product, "sum");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Linear", "Mul", "Add"));
}

TEST(Rewrites, HeadsOfTheBatchAxisLoseTheMemoryOrderOfTheirThreeAxes) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {4, 3, 5}, DType::kFloat32);  // two inputs with two heads each
  const Value scores = matmul(graph, x, transpose(graph, x, {0, 2, 1}, "keys"), "scores");
  const Value mixed = matmul(graph, softmax(graph, scores, {}, 0.5, "map"), x, "mixed");
  // The only reader moves axes, so the product is told to write in that order.
  const Value y = transpose(graph, mixed, {1, 0, 2}, "moved");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), testing::Contains("MatMul").Times(2));
}

TEST(Rewrites, HeadsOfTheBatchAxisGetTheirOwnWhereValuesAreRoundedBetween) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {4, 3, 5}, DType::kFloat32);
  const auto rounded = [&](Value value, float step) {
    const Value scale = constant(graph, step);
    return dequantise(graph, quantise(graph, value, scale, {}, 0, {-128, 127}, "round"), scale, {},
                      0, "round");
  };
  const Value scores = matmul(graph, x, transpose(graph, x, {0, 2, 1}, "keys"), "scores");
  const Value scaled = rounded(
      binary(graph, rounded(scores, 2), constant(graph, 0.5f), BinaryFunction::kMultiply, "scaled"),
      1);
  const Value map = rounded(softmax(graph, scaled, {}, 1, "map"), 0.01f);
  const Value y = matmul(graph, map, x, "mixed");
  const Graph whole = graph.finish();
  const auto own_weights = [](const Tensor& weight, const Tensor& bias) {
    return std::make_shared<LinearWeights>(weight.contiguous(), bias);
  };
  const Rewritten rewritten = rewrite(whole, {y}, 2, own_weights);
  const Discovery found = discover(rewritten.graph, rewritten.new_value[y.id], 2);
  ASSERT_EQ(found.sites.size(), 1u);
  EXPECT_EQ(found.sites[0].heads, 2);
  EXPECT_TRUE(found.sites[0].is_self_attention());
}

TEST(Rewrites, PackedProjectionWithAnAxisOfItsOwnBecomesThreeLinears) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {5, 2, 4}, DType::kFloat32);
  const auto weights = std::make_shared<LinearWeights>(numbers({12, 4}), numbers({12}));
  const Value packed = linear(graph, x, weights, "qkv");
  const Value apart = reshape(graph, packed, {1, 5, 2, 3, 4}, "apart");
  const Value first = transpose(graph, apart, {3, 1, 2, 0, 4}, "first");
  const Value three = reshape(graph, first, {3, 5, 2, 4}, "three");
  std::vector<Value> parts;
  for (const int64_t part : {0, 1, 2}) {
    parts.push_back(reshape(graph, slice(graph, three, 0, part, 1, "part"), {5, 2, 4}, "part"));
  }
  const Value y =
      add(graph, binary(graph, parts[0], parts[1], BinaryFunction::kMultiply, "qk"), parts[2], "y");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y),
              testing::UnorderedElementsAre("Linear", "Linear", "Linear", "Mul", "Add"));
}

TEST(Rewrites, HeadsSplitOffTheBatchBehindATranspositionAreSplitAtOnce) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {5, 2, 6}, DType::kFloat32);
  const Value flat = reshape(graph, x, {5, 4, 3}, "flat");
  const Value moved = transpose(graph, flat, {1, 0, 2}, "moved");
  const Value y = reshape(graph, moved, {2, 2, 5, 3}, "heads");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Reshape", "Transpose"));
}

// As nn.MultiheadAttention does with batch_first.
TEST(Rewrites, LinearsTakeRowsAsTheyAreHoweverTheyAreMovedAround) {
  for (const auto& [batch, heads_in_batch] :
       {std::pair{1, false}, {2, false}, {1, true}, {2, true}}) {
    GraphBuilder graph(Folding::kYes);
    const Value x = graph.input("x", {batch, 5, 4}, DType::kFloat32);
    const auto weights = std::make_shared<LinearWeights>(numbers({6, 4}), numbers({6}));
    const Value rows =
        linear(graph, transpose(graph, x, {1, 0, 2}, "tokens first"), weights, "values");
    Value heads;
    if (heads_in_batch) {
      const Value moved =
          transpose(graph, reshape(graph, rows, {5, batch * 2, 3}, "split"), {1, 0, 2}, "moved");
      heads = reshape(graph, moved, {batch, 2, 5, 3}, "heads");
    } else {
      heads =
          transpose(graph, reshape(graph, rows, {5, batch, 2, 3}, "split"), {1, 2, 0, 3}, "heads");
    }
    const Value y = activation(graph, heads, ActivationFunction::kTanh, "y");
    const Graph whole = graph.finish();
    const Rewritten found =
        rewrite(whole, {y}, batch, [](const Tensor& weight, const Tensor& bias) {
          return std::make_shared<LinearWeights>(weight.contiguous(), bias);
        });
    std::vector<std::string> kinds;
    for (const Node& node : found.graph.nodes()) kinds.emplace_back(node.op->kind());
    ASSERT_THAT(kinds, ElementsAre("Linear", "Reshape", "Transpose", "Activation"));
    // Heads behind their batch, as models from folders have them.
    EXPECT_THAT(axis_order(*found.graph.nodes()[2].op), ElementsAre(0, 2, 1, 3));
    EXPECT_EQ(found.graph.shape(found.graph.nodes()[1].outputs[0]), (Shape{batch, 5, 2, 3}));
    const Tensor given = numbers({batch, 5, 4});
    const Value new_x = found.new_value[x.id], new_y = found.new_value[y.id];
    EXPECT_EQ(run(found.graph, {{new_x, given}}, {.outputs = {new_y}})[new_y].to_doubles(),
              run(whole, {{x, given}}, {.outputs = {y}})[y].to_doubles());
  }
}

TEST(Rewrites, ALinearOfMovedRowsStaysWhereItIsReadTwice) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {2, 5, 4}, DType::kFloat32);
  const auto weights = std::make_shared<LinearWeights>(numbers({6, 4}), numbers({6}));
  const Value rows =
      linear(graph, transpose(graph, x, {1, 0, 2}, "tokens first"), weights, "values");
  const auto heads = [&](int64_t count) {
    const Value split = reshape(graph, rows, {5, 2, count, 6 / count}, "split");
    const Value moved = transpose(graph, split, {1, 2, 0, 3}, "heads");
    return reduce(graph, moved, Reduction::kSum, {0, 1, 2, 3}, false, "sum");
  };
  const Value y = add(graph, heads(2), heads(3), "y");
  const std::vector<std::string> kinds = kinds_after_rewriting(graph, x, y);
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), "Linear"), 1);
}

TEST(Rewrites, ALinearTakesOneInputAsItIsWhereOnlyTheBatchWasMoved) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {1, 5, 4}, DType::kFloat32);
  const auto weights = std::make_shared<LinearWeights>(numbers({6, 4}), numbers({6}));
  const Value rows =
      linear(graph, transpose(graph, x, {1, 0, 2}, "tokens first"), weights, "values");
  const Value y = reshape(graph, rows, {1, 5, 1, 6}, "one head");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Linear", "Reshape"));
}

TEST(Rewrites, MergedHeadsGoBackToTheirRowsAtOnce) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {2, 2, 5, 3}, DType::kFloat32);
  const auto weights = std::make_shared<LinearWeights>(numbers({4, 6}), numbers({4}));
  const Value tokens_first = transpose(graph, x, {2, 0, 1, 3}, "tokens first");
  const Value merged =
      linear(graph, reshape(graph, tokens_first, {5, 2, 6}, "merged"), weights, "output");
  const Value y = transpose(graph, merged, {1, 0, 2}, "batch first");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Transpose", "Reshape", "Linear"));
}

TEST(Rewrites, RowsFlattenedForAProductKeepTheirAxes) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {5, 2, 2, 3}, DType::kFloat32);
  const auto weights = std::make_shared<LinearWeights>(numbers({4, 6}), Tensor());
  const Value flat = linear(graph, reshape(graph, x, {10, 6}, "flat"), weights, "out");
  const Value y = reshape(graph, flat, {5, 2, 4}, "rows");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Reshape", "Linear"));
}

TEST(Rewrites, ASigmoidOfTheUsualMultipleIsAnActivation) {
  for (const auto& [factor, kind] : {std::pair{1.702f, "Activation"}, {1.5f, "QuickGelu"}}) {
    GraphBuilder graph(Folding::kYes);
    const Value x = graph.input("x", {2, 6}, DType::kFloat32);
    const Value scaled =
        binary(graph, x, constant(graph, factor), BinaryFunction::kMultiply, "scaled");
    const Value gate = activation(graph, scaled, ActivationFunction::kSigmoid, "gate");
    const Value y = binary(graph, x, gate, BinaryFunction::kMultiply, "y");
    EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre(kind));
  }
}

TEST(Rewrites, MergedHeadsThatWereInTheBatchGoBackAtOnce) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {3, 2, 5, 4}, DType::kFloat32);
  const Value in_batch = reshape(graph, x, {6, 5, 4}, "in batch");
  const Value y =
      reshape(graph, transpose(graph, in_batch, {1, 0, 2}, "back"), {5, 3, 8}, "merged");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Transpose", "Reshape", "Transpose"));
}

TEST(Rewrites, TheBiasOfASingleVectorIsPartOfTheLinear) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {4}, DType::kFloat32);
  const auto weights = std::make_shared<LinearWeights>(numbers({3, 4}), Tensor());
  const Value row = reshape(
      graph, linear(graph, reshape(graph, x, {1, 4}, "row"), weights, "product"), {3}, "vector");
  const Value y = add(graph, row, graph.constant(numbers({3}), "bias"), "y");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Reshape", "Linear", "Reshape"));
}

TEST(Rewrites, DivisionByTheRootOfTheSumOfSquaresIsUnitLength) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {2, 6}, DType::kFloat32);
  const Value squares = binary(graph, x, constant(graph, 2), BinaryFunction::kPower, "squares");
  const Value sum = reduce(graph, squares, Reduction::kSum, {1}, true, "sum");
  const Value norm = binary(graph, sum, constant(graph, 0.5f), BinaryFunction::kPower, "norm");
  const Value y = binary(graph, x, norm, BinaryFunction::kDivide, "y");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("L2Normalise"));
}

TEST(Rewrites, UnitLengthMayBeGuardedAgainstDivisionByNothing) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {2, 6}, DType::kFloat32);
  const Value length = reduce(graph, x, Reduction::kL2, {1}, true, "length");
  const Value least =
      binary(graph, length, constant(graph, 1e-12f), BinaryFunction::kMaximum, "least");
  const Value y = binary(graph, x, least, BinaryFunction::kDivide, "y");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("L2Normalise"));
}

TEST(Rewrites, MeanOverTokensMovedBehindTheChannelsIsAMean) {
  GraphBuilder graph(Folding::kYes);
  const Value x = graph.input("x", {2, 5, 3}, DType::kFloat32);
  const Value moved = transpose(graph, x, {0, 2, 1}, "moved");
  const Value picture = reshape(graph, moved, {2, 3, 1, 5}, "picture");
  const Value pooled = reduce(graph, picture, Reduction::kMean, {2, 3}, true, "pooled");
  const Value y = reshape(graph, pooled, {2, 3}, "y");
  EXPECT_THAT(kinds_after_rewriting(graph, x, y), ElementsAre("Mean"));
}

}  // namespace
}  // namespace whyformer::onnx
