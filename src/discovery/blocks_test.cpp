// Encoder blocks are found from the operators alone, in every architecture and in row-restricted
// graphs.
#include "discovery/blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "tests/support/golden_model.h"
#include "tests/support/plain_encoder.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kTokens = 5;

std::vector<std::string> kinds(const std::vector<const Node*>& nodes) {
  std::vector<std::string> result;
  for (const Node* node : nodes) result.emplace_back(node->op->kind());
  return result;
}

TEST(Blocks, AreFoundInEveryArchitecture) {
  for (const std::string& name : golden_models()) {
    const GoldenModel golden(name);
    const auto text = golden.model->graph({.tokens = kTokens, .head = golden.head()});
    const std::vector<EncoderBlock> blocks = find_blocks(text->graph, text->found.sites);
    ASSERT_EQ(blocks.size(), text->found.sites.size()) << name;
    const bool reads_row = text->found.read_out.kind == ReadOut::Kind::kRow;
    for (const EncoderBlock& block : blocks) {
      const bool is_last = &block == &blocks.back();
      EXPECT_EQ(block.rows, is_last && reads_row ? 1 : kTokens) << name;
      EXPECT_EQ(text->graph.shape(block.input), text->graph.shape(blocks[0].input)) << name;
      EXPECT_FALSE(block.norms_before()) << name;
      EXPECT_NE(block.attended.norm_after, nullptr) << name;
      EXPECT_NE(block.fed_forward.norm_after, nullptr) << name;
      EXPECT_EQ(linear_weights(*block.inner->op)->in_features(),
                linear_weights(*block.outer->op)->out_features())
          << name;
    }
  }
}

TEST(Blocks, HeadIsWhatFollowsTheLastBlock) {
  const GoldenModel bert("bert"), pooled("bert-mean-pooling");
  const auto classifier = bert.model->graph({.tokens = kTokens});
  const auto blocks = find_blocks(classifier->graph, classifier->found.sites);
  EXPECT_THAT(kinds(find_head(classifier->graph, blocks.back(), classifier->output)),
              testing::ElementsAre("Reshape", "Linear", "Activation", "Linear"));
  const auto encoder = pooled.model->graph({.tokens = kTokens, .head = Head::kEmbedding});
  const auto mean_blocks = find_blocks(encoder->graph, encoder->found.sites);
  EXPECT_THAT(kinds(find_head(encoder->graph, mean_blocks.back(), encoder->output)),
              testing::ElementsAre("Mean"));
}

TEST(Blocks, OfAlbertShareTheirWeights) {
  const GoldenModel golden("albert-shared");
  const auto text = golden.model->graph({.tokens = kTokens});
  const std::vector<EncoderBlock> blocks = find_blocks(text->graph, text->found.sites);
  ASSERT_GT(blocks.size(), 1u);
  EXPECT_EQ(linear_weights(*blocks[0].outer->op), linear_weights(*blocks[1].outer->op));
  EXPECT_NE(blocks[0].outer, blocks[1].outer) << "one node per use";
}

TEST(Blocks, StartBehindTheEmbeddingProjection) {
  const GoldenModel golden("electra");
  const auto text = golden.model->graph({.tokens = kTokens});
  const EncoderBlock first = find_blocks(text->graph, text->found.sites)[0];
  EXPECT_EQ(text->graph.name(first.input), "electra.embeddings_project");
}

TEST(Blocks, ThatNormaliseBeforeTheirPartsLeaveTheFinalNormToTheHead) {
  for (const bool restricted : {false, true}) {
    const PlainEncoder encoder = random_encoder({.norms_before = true, .pooler = false}, 1);
    const EncoderGraph built = graph_of(encoder, {.tokens = kTokens, .restrict_rows = restricted});
    const std::vector<EncoderBlock> blocks = find_blocks(built.graph, built.found.sites);
    for (const EncoderBlock& block : blocks) {
      EXPECT_TRUE(block.norms_before());
      EXPECT_NE(block.fed_forward.norm_before, nullptr);
      EXPECT_EQ(block.attended.norm_after, nullptr);
      EXPECT_EQ(block.fed_forward.norm_after, nullptr);
      EXPECT_EQ(block.attended.skip, 1);
      EXPECT_EQ(block.fed_forward.skip, 0);
    }
    const auto head = kinds(find_head(built.graph, blocks.back(), built.output));
    if (restricted) {
      EXPECT_THAT(head, testing::ElementsAre("LayerNorm", "Reshape", "Linear"));
    } else {
      EXPECT_THAT(head, testing::ElementsAre("LayerNorm", "Slice", "Reshape", "Linear"));
    }
  }
}

std::shared_ptr<const LinearWeights> some_weights() {
  return std::make_shared<LinearWeights>(Tensor::zeros({8, 8}), Tensor());
}

// Self-attention of two heads over [1, 5, 8].
Value attention(GraphBuilder& graph, Value x, Value values_from) {
  const auto split = [&](Value from) {
    const Value all = linear(graph, from, some_weights(), "projection");
    return transpose(graph, reshape(graph, all, {1, kTokens, 2, 4}, "split"), {0, 2, 1, 3},
                     "split");
  };
  const Value keys = transpose(graph, split(x), {0, 1, 3, 2}, "keys");
  const Value map = softmax(graph, matmul(graph, split(x), keys, "scores"), {}, 1, "attention");
  const Value context = matmul(graph, map, split(values_from), "context");
  const Value merged = transpose(graph, context, {0, 2, 1, 3}, "merge");
  return linear(graph, reshape(graph, merged, {1, kTokens, 8}, "merge"), some_weights(), "output");
}

// Where axes have the length 1, there are several ways to write the same move.
TEST(Blocks, OfOneHeadMayMoveAxesOfOneInAnyOrder) {
  for (const std::vector<int>& order : {std::vector<int>{0, 2, 1, 3}, {2, 0, 1, 3}}) {
    GraphBuilder graph;
    const Value x = graph.input("x", {1, kTokens, 8}, DType::kFloat32);
    const auto split = [&](Value from, const std::vector<int>& moved) {
      return transpose(graph,
                       reshape(graph, linear(graph, from, some_weights(), "projection"),
                               {1, kTokens, 1, 8}, "split"),
                       moved, "split");
    };
    const Value keys = transpose(graph, split(x, order), {0, 1, 3, 2}, "keys");
    const Value map =
        softmax(graph, matmul(graph, split(x, order), keys, "scores"), {}, 1, "attention");
    const Value context = matmul(graph, map, split(x, order), "context");
    const Value merged =
        reshape(graph, transpose(graph, context, {1, 2, 0, 3}, "merge"), {1, kTokens, 8}, "merge");
    const Value sum = add(graph, linear(graph, merged, some_weights(), "output"), x, "sum");
    const Value inner = activation(graph, linear(graph, sum, some_weights(), "inner"),
                                   ActivationFunction::kGelu, "gelu");
    const Value output =
        add(graph, sum, linear(graph, inner, some_weights(), "outer"), "second sum");
    const Graph whole = graph.finish();
    EXPECT_EQ(find_blocks(whole, discover(whole, output).sites).size(), 1u);
  }
}

// SAINT adds the normalised stream: each norm then ends the part before it.
TEST(Blocks, ThatAddTheNormalisedStreamHaveTheirNormsAfter) {
  GraphBuilder builder;
  const LayerNormWeights weights{Tensor::zeros({8}), Tensor::zeros({8}), 1e-5};
  const Value x = builder.input("x", {1, kTokens, 8}, DType::kFloat32);
  const Value first = layer_norm(builder, x, weights, "first norm");
  const Value sum = add(builder, attention(builder, first, first), first, "sum");
  const Value second = layer_norm(builder, sum, weights, "second norm");
  const Value inner = linear(builder, second, some_weights(), "inner");
  const Value outer = linear(builder, activation(builder, inner, ActivationFunction::kGelu, "gelu"),
                             some_weights(), "outer");
  const Value output =
      linear(builder, add(builder, outer, second, "second sum"), some_weights(), "head");
  const Graph graph = builder.finish();
  const EncoderBlock block = find_blocks(graph, discover(graph, output).sites)[0];
  EXPECT_EQ(graph.name(block.input), "first norm");
  EXPECT_EQ(block.attended.norm_before, nullptr);
  EXPECT_EQ(block.attended.norm_after->name, "second norm");
  EXPECT_EQ(block.fed_forward.norm_before, nullptr);
  EXPECT_EQ(block.fed_forward.norm_after, nullptr);
  EXPECT_EQ(graph.name(block.output()), "second sum");
}

// A gate times values, as in many newer models: a block all the same.
TEST(Blocks, MayHaveAFeedForwardPartOfAnotherForm) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, kTokens, 8}, DType::kFloat32);
  const Value sum = add(builder, attention(builder, x, x), x, "sum");
  const Value gate = activation(builder, linear(builder, sum, some_weights(), "gate"),
                                ActivationFunction::kSilu, "silu");
  const Value gated = binary(builder, gate, linear(builder, sum, some_weights(), "up"),
                             BinaryFunction::kMultiply, "gated");
  const Value output =
      add(builder, sum, linear(builder, gated, some_weights(), "down"), "second sum");
  const Graph graph = builder.finish();
  const EncoderBlock block = find_blocks(graph, discover(graph, output).sites)[0];
  EXPECT_EQ(block.inner, nullptr);
  EXPECT_EQ(graph.name(block.attended.output()), "sum");
  EXPECT_EQ(block.fed_forward.skip, 0);
  EXPECT_EQ(graph.name(block.output()), "second sum");
}

// What else reads the middle of a block, or is added to it, changes nothing about its parts.
TEST(Blocks, MayBeReadInTheMiddle) {
  GraphBuilder builder;
  const LayerNormWeights weights{Tensor::zeros({8}), Tensor::zeros({8}), 1e-5};
  const Value x = builder.input("x", {1, kTokens, 8}, DType::kFloat32);
  const Value first = layer_norm(builder, x, weights, "first norm");
  const Value sum = add(builder, attention(builder, first, first), x, "sum");
  const Value moved =
      add(builder, sum, builder.constant(Tensor::zeros({1, kTokens, 8}), "table"), "moved");
  const Value second = layer_norm(builder, sum, weights, "second norm");
  const Value inner = activation(builder, linear(builder, second, some_weights(), "inner"),
                                 ActivationFunction::kGelu, "gelu");
  const Value stream =
      add(builder, sum, linear(builder, inner, some_weights(), "outer"), "second sum");
  const Value last = layer_norm(builder, stream, weights, "last norm");
  const Value output = add(builder, last, moved, "output");
  const Graph graph = builder.finish();
  const EncoderBlock block = find_blocks(graph, discover(graph, output).sites)[0];
  EXPECT_EQ(block.fed_forward.add->name, "second sum");
  ASSERT_NE(block.fed_forward.norm_before, nullptr);
  EXPECT_EQ(block.fed_forward.norm_before->name, "second norm");
  EXPECT_EQ(block.fed_forward.norm_after, nullptr) << "the last norm is the network's";
  ASSERT_NE(block.inner, nullptr);
  EXPECT_EQ(block.inner->name, "inner");
}

std::string complaint(GraphBuilder& builder, Value output) {
  const Graph graph = builder.finish();
  try {
    find_blocks(graph, discover(graph, output).sites);
  } catch (const UnsupportedModel& error) {
    return error.what();
  }
  return "";
}

TEST(Blocks, NameTheNodeThatBreaksThePattern) {
  {
    GraphBuilder graph;
    const Value x = graph.input("x", {1, kTokens, 8}, DType::kFloat32);
    const Value attended = attention(graph, x, x);
    EXPECT_THAT(
        complaint(graph, activation(graph, attended, ActivationFunction::kRelu, "no residual")),
        testing::HasSubstr("where a residual addition is expected, there is Activation "
                           "'no residual'"));
  }
  {
    GraphBuilder graph;
    const Value x = graph.input("x", {1, kTokens, 8}, DType::kFloat32);
    const Value sum = add(graph, attention(graph, x, x), x, "sum");
    EXPECT_THAT(complaint(graph, linear(graph, sum, some_weights(), "head")),
                testing::HasSubstr("where the addition of a feed-forward part is expected, nothing "
                                   "of that kind reads 'sum'"));
  }
  {
    GraphBuilder graph;
    const Value x = graph.input("x", {1, kTokens, 8}, DType::kFloat32);
    const Value sum = add(graph, attention(graph, x, x), x, "sum");
    const Value mixed = cumulative_sum(graph, sum, 1, false, false, "mixes tokens");
    EXPECT_THAT(
        complaint(graph, add(graph, mixed, sum, "second sum")),
        testing::HasSubstr(
            "a feed-forward part of each token by itself is expected, there is Add 'second sum'"));
  }
  {
    GraphBuilder graph;
    const Value x = graph.input("x", {1, kTokens, 8}, DType::kFloat32);
    const Value other = graph.input("other", {1, kTokens, 8}, DType::kFloat32);
    EXPECT_THAT(complaint(graph, add(graph, attention(graph, x, other), x, "sum")),
                testing::HasSubstr("the graph has the input 'other'"));
  }
}

}  // namespace
}  // namespace whyformer
