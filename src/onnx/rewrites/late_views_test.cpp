// Exchanges of tokens and batch, and a batch that is left out, are put off; what lies between stays
// the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/pass.h"
#include "onnx/rewrites/rewrite.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "ops/quantised.h"

namespace whyformer::onnx {
namespace {

using testing::ElementsAre;

constexpr int64_t kBatch = 2, kTokens = 5, kWidth = 4;

Tensor numbers(const Shape& shape) {
  std::vector<float> values(element_count(shape));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((7 * i) % 11) - 4.5f;
  return Tensor::of<float>(shape, std::span<const float>(values));
}

// Rows [tokens, batch, width] of an input with the batch in front.
class LateViews : public testing::Test {
 protected:
  Value constant(const Shape& shape) { return graph_.constant(numbers(shape), "constant"); }
  Value exchanged(Value value) {
    std::vector<int> order{1, 0};
    while (order.size() < graph_.shape(value).size())
      order.push_back(static_cast<int>(order.size()));
    return transpose(graph_, value, order, "exchanged");
  }

  // What is left of the graph, without constants; its output must stay the same.
  std::vector<std::string> kinds_of(Value y) {
    const Graph graph = graph_.finish();
    const Rewritten late = with_late_views(graph, {y});
    // What nobody reads any more goes with the next round of rules.
    const Rewritten found = rewrite(
        late.graph, {late.new_value[y.id]}, 1, [](const Tensor& weight, const Tensor& bias) {
          return std::make_shared<LinearWeights>(weight.contiguous(), bias);
        });
    const Value x = found.new_value[late.new_value[x_.id].id],
                new_y = found.new_value[late.new_value[y.id].id];
    const Tensor given =
        graph.type(x_).dtype == DType::kInt64
            ? Tensor::of<int64_t>(graph.shape(x_), std::vector<int64_t>{0, 2, 1, 3, 3, 1})
            : numbers(graph.shape(x_));
    EXPECT_EQ(graph.shape(y), found.graph.shape(new_y));
    EXPECT_EQ(run(found.graph, {{x, given}}, {.outputs = {new_y}})[new_y].to_doubles(),
              run(graph, {{x_, given}}, {.outputs = {y}})[y].to_doubles());
    std::vector<std::string> kinds;
    for (const Node& node : found.graph.nodes()) {
      if (!is_a<Constant>(*node.op)) kinds.emplace_back(node.op->kind());
    }
    return kinds;
  }

  GraphBuilder graph_{Folding::kYes};
  Value x_ = graph_.input("x", {kBatch, kTokens, kWidth}, DType::kFloat32);
};

TEST_F(LateViews, TwoOfThemMeetBehindWhatWorksOnRows) {
  const auto weights =
      std::make_shared<LinearWeights>(numbers({kWidth, kWidth}), numbers({kWidth}));
  const Value rows = exchanged(x_);
  const Value sum = add(graph_, rows, linear(graph_, rows, weights, "branch"), "sum");
  const Value normed =
      layer_norm(graph_, sum, {numbers({kWidth}), numbers({kWidth}), 1e-5}, "norm");
  EXPECT_THAT(kinds_of(exchanged(normed)), ElementsAre("Linear", "Add", "LayerNorm"));
}

TEST_F(LateViews, ConstantsAreExchangedOnce) {
  for (const Shape& shape : {Shape{kTokens, 1, kWidth},
                             {kTokens, kBatch, kWidth},
                             {kBatch, kWidth},
                             {kWidth},
                             {1, 1, 1}}) {
    graph_ = GraphBuilder(Folding::kYes);
    x_ = graph_.input("x", {kBatch, kTokens, kWidth}, DType::kFloat32);
    const Value y = exchanged(
        binary(graph_, exchanged(x_), constant(shape), BinaryFunction::kMultiply, "scaled"));
    EXPECT_THAT(kinds_of(y), ElementsAre("Mul")) << to_string(shape);
  }
}

TEST_F(LateViews, OneStaysWhereTheOtherOperandWasNeverExchanged) {
  const Value other = reshape(graph_, x_, {kTokens, kBatch, kWidth}, "as it lies");
  EXPECT_THAT(kinds_of(add(graph_, exchanged(x_), other, "sum")),
              testing::UnorderedElementsAre("Transpose", "Reshape", "Add"));
}

TEST_F(LateViews, RowsAreCutOutAveragedAndJoinedWhereTheyAre) {
  const Value rows = exchanged(x_);
  const Value first = slice(graph_, rows, 0, 0, 2, "first tokens");
  const Value all = concat(graph_, constant({1, kBatch, kWidth}), first, 0, "all");
  EXPECT_THAT(kinds_of(mean(graph_, all, 0, "over tokens")),
              ElementsAre("Slice", "Concat", "Mean"));
}

TEST_F(LateViews, AMeanOverTheLastAxisKeepsTheExchange) {
  EXPECT_THAT(kinds_of(mean(graph_, exchanged(x_), 2, "over numbers")),
              ElementsAre("Mean", "Transpose"));
}

TEST_F(LateViews, ReductionsRunWhereTheRowsAre) {
  const Value sum = reduce(graph_, exchanged(x_), Reduction::kSum, {0}, true, "over tokens");
  const Value most = reduce(graph_, sum, Reduction::kMax, {0}, false, "of one");
  EXPECT_THAT(kinds_of(most), ElementsAre("ReduceSum", "ReduceMax"));
}

TEST_F(LateViews, HeadsAreSplitAndMergedBehindTheTwoAxes) {
  const Value split = reshape(graph_, exchanged(x_), {kTokens, kBatch, 2, 2}, "split");
  const Value heads = activation(graph_, transpose(graph_, split, {1, 2, 0, 3}, "heads"),
                                 ActivationFunction::kTanh, "tanh");
  const Value merged = reshape(graph_, transpose(graph_, heads, {2, 0, 1, 3}, "back"),
                               {kTokens, kBatch, kWidth}, "merged");
  EXPECT_THAT(kinds_of(exchanged(merged)),
              ElementsAre("Reshape", "Transpose", "Activation", "Transpose", "Reshape"));
}

TEST_F(LateViews, AViewAcrossBothAxesIsTakenAsItWas) {
  const Value flat = reshape(graph_, exchanged(x_), {kTokens * kBatch, kWidth}, "flat");
  EXPECT_THAT(kinds_of(flat), ElementsAre("Transpose", "Reshape"));
}

TEST_F(LateViews, NumbersRoundedByOneScaleAreRoundedWhereTheyAre) {
  const Value scale = graph_.constant(Tensor::of<float>({}, std::vector<float>{0.5f}), "scale");
  const Value whole = quantise(graph_, exchanged(x_), scale, {}, 0, {-128, 127}, "round");
  EXPECT_THAT(kinds_of(exchanged(dequantise(graph_, whole, scale, {}, 0, "back"))),
              ElementsAre("QuantizeLinear", "DequantizeLinear"));
}

TEST_F(LateViews, AScaleForEachTokenGoesWithItsAxis) {
  const Value scales = graph_.constant(
      Tensor::of<float>({kTokens}, std::vector<float>{0.5f, 1, 2, 0.25f, 4}), "scales");
  const Value whole = quantise(graph_, exchanged(x_), scales, {}, 0, {-128, 127}, "round");
  EXPECT_THAT(kinds_of(exchanged(whole)), ElementsAre("QuantizeLinear"));
}

TEST_F(LateViews, TheSpanOfAllNumbersIsTakenWhereTheyAre) {
  const Value whole = quantise_dynamically(graph_, exchanged(x_), "round")[0];
  EXPECT_THAT(kinds_of(exchanged(whole)), ElementsAre("DynamicScale", "QuantizeLinear"));
}

// The mean over everything of one input alone has no axes left.
TEST_F(LateViews, ANumberWithoutAxesIsWhatItWas) {
  graph_ = GraphBuilder(Folding::kYes);
  x_ = graph_.input("x", {1, 12}, DType::kFloat32);
  const Value number =
      reduce(graph_, reshape(graph_, x_, {12}, "alone"), Reduction::kMean, {0}, false, "mean");
  EXPECT_THAT(kinds_of(reshape(graph_, number, {1}, "y")), ElementsAre("ReduceMean"));
}

TEST_F(LateViews, IdsAreLookedUpWhereTheyAre) {
  graph_ = GraphBuilder(Folding::kYes);
  x_ = graph_.input("ids", {2, 3}, DType::kInt64);
  const Value rows = embedding(graph_, exchanged(x_), numbers({4, kWidth}), "table");
  EXPECT_THAT(kinds_of(exchanged(rows)), ElementsAre("Embedding"));
}

// As nn.MultiheadAttention does with one input alone.
TEST_F(LateViews, ABatchOfOneIsThereAgainWhereItWasLeftOut) {
  graph_ = GraphBuilder(Folding::kYes);
  x_ = graph_.input("x", {1, kTokens, kWidth}, DType::kFloat32);
  const auto weights =
      std::make_shared<LinearWeights>(numbers({kWidth, kWidth}), numbers({kWidth}));
  const Value alone = reshape(graph_, x_, {kTokens, kWidth}, "alone");
  const Value all = add(graph_, concat(graph_, constant({1, kWidth}), alone, 0, "all"),
                        constant({kTokens + 1, kWidth}), "positions");
  const Value rows = reshape(graph_, all, {kTokens + 1, 1, kWidth}, "tokens first");
  const Value heads =
      reshape(graph_, linear(graph_, rows, weights, "values"), {kTokens + 1, 2, 2}, "heads");
  const Value moved = reshape(graph_, transpose(graph_, heads, {1, 0, 2}, "moved"),
                              {1, 2, kTokens + 1, 2}, "with batch");
  const Value back = transpose(graph_, activation(graph_, moved, ActivationFunction::kTanh, "tanh"),
                               {2, 0, 1, 3}, "back");
  const Value branch = reshape(graph_, reshape(graph_, back, {kTokens + 1, 1, kWidth}, "merged"),
                               {kTokens + 1, kWidth}, "alone");
  const Value y = reshape(graph_, slice(graph_, add(graph_, all, branch, "sum"), 0, 0, 1, "first"),
                          {kWidth}, "y");
  const std::vector<std::string> kinds = kinds_of(y);
  EXPECT_THAT(kinds, ElementsAre("Concat", "Add", "Linear", "Reshape", "Transpose", "Activation",
                                 "Transpose", "Reshape", "Add", "Slice", "Reshape"));
}

TEST_F(LateViews, IdsOfOneInputAloneAreLookedUpAsABatch) {
  graph_ = GraphBuilder(Folding::kYes);
  x_ = graph_.input("ids", {1, 6}, DType::kInt64);
  const Value rows =
      embedding(graph_, reshape(graph_, x_, {6}, "alone"), numbers({4, kWidth}), "table");
  EXPECT_THAT(kinds_of(reshape(graph_, rows, {1, 6, kWidth}, "y")), ElementsAre("Embedding"));
}

}  // namespace
}  // namespace whyformer::onnx
