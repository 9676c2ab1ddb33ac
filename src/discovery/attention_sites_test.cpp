#include "discovery/attention_sites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/small_attention.h"

namespace whyformer {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kLength = 5;

// One layer of self-attention over five tokens, and a read-out of its output.
struct OneLayer : SmallAttention {
  Value tokens = stream("tokens", kLength);
  Value last = layer(tokens, tokens, "layer");

  ReadOut read_out(Value output) { return discover(graph.finish(), output).read_out; }
};

TEST(AttentionSites, ASoftmaxOfAProductThatIsMultipliedIsASite) {
  OneLayer model;
  const Discovery found = discover(model.graph.finish(), model.last);
  ASSERT_EQ(found.sites.size(), 1u);
  const AttentionSite& site = found.sites[0];
  EXPECT_EQ(site.name, "layer");
  EXPECT_EQ(site.heads, 2);
  EXPECT_EQ(site.queries, kLength);
  EXPECT_EQ(site.keys, kLength);
  EXPECT_EQ(site.windows, 1);
  EXPECT_FALSE(site.causal);
  EXPECT_TRUE(site.is_self_attention());
  ASSERT_EQ(found.streams.size(), 1u);
  EXPECT_EQ(found.streams[0].tokens, kLength);
  EXPECT_THAT(found.streams[0].sites, ElementsAre(0));
  EXPECT_TRUE(found.covers_tokens(site));
  EXPECT_TRUE(found.covers_tokens(site, kLength));
  EXPECT_FALSE(found.covers_tokens(site, kLength + 1));
}

TEST(AttentionSites, AScaleAMaskOrARoundingBetweenThemChangesNothing) {
  GraphBuilder graph;
  const Value x = graph.input("x", {1, 2, kLength, 3}, DType::kFloat32);
  const Value half = graph.constant(Tensor::of<float>({}, {0.5f}), "half");
  const Value mask = graph.input("mask", {1, 1, 1, kLength}, DType::kFloat32, InputRole::kGiven);
  Value scores = matmul(graph, x, transpose(graph, x, {0, 1, 3, 2}, "keys"), "scores");
  scores = binary(graph, scores, half, BinaryFunction::kMultiply, "scaled");
  scores = add(graph, scores, mask, "masked");
  Value map = softmax(graph, scores, {}, 1, "map");
  map = quantise(graph, map, half, {}, 0, {}, "rounded");
  const Value output = matmul(graph, map, x, "context");
  EXPECT_EQ(discover(graph.finish(), output).sites.size(), 1u);
}

TEST(AttentionSites, ASoftmaxOfClassesOrOneThatIsNotMultipliedIsNone) {
  SmallAttention model;
  const Value x = model.stream("x", kLength);
  const Value square = reshape(model.graph, x, {1, 1, kLength, 4}, "square");
  const Value product = matmul(model.graph, square,
                               transpose(model.graph, square, {0, 1, 3, 2}, "turned"), "product");
  const Value not_read = softmax(model.graph, product, {}, 1, "not multiplied");
  const Value of_no_product =
      matmul(model.graph, softmax(model.graph, square, {}, 1, "classes"),
             transpose(model.graph, square, {0, 1, 3, 2}, "turned"), "weighted");
  const Value output = add(model.graph, not_read, of_no_product, "both");
  const Discovery found = discover(model.graph.finish(), output);
  EXPECT_THAT(found.sites, IsEmpty());
  EXPECT_THAT(found.streams, IsEmpty());
}

// A mask [3, 3] with `hidden` where it says x.
Tensor drawn_mask(const std::string& drawn) {
  Tensor mask = Tensor::zeros({3, 3}, DType::kFloat32);
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i] == 'x') mask.mutable_data<float>()[i] = -1e9f;
  }
  return mask;
}

TEST(AttentionSites, AMaskThatHidesAllLaterKeysAndNoOwnOneIsCausal) {
  const auto is_causal = [](const std::string& drawn) {
    SmallAttention model;
    const Value x = model.stream("x", 3);
    const Value mask = model.graph.constant(drawn_mask(drawn), "mask");
    const Value output = model.layer(x, x, "layer", mask);
    return discover(model.graph.finish(), output).sites.at(0).causal;
  };
  EXPECT_TRUE(
      is_causal(".xx"
                "..x"
                "..."));
  EXPECT_TRUE(
      is_causal(".xx"
                "..x"
                "x.."));  // a window of the past
  EXPECT_FALSE(
      is_causal(".xx"
                "..."
                "..."));
  EXPECT_FALSE(
      is_causal(".xx"
                ".xx"
                "..."));
  EXPECT_FALSE(is_causal("........."));
}

TEST(AttentionSites, CrossAttentionConnectsTwoStreams) {
  SmallAttention model;
  const Value source = model.layer(model.stream("source", 3), model.stream("source", 3), "source");
  const Value target = model.stream("target", 2);
  const Value own = model.layer(target, target, "own");
  const Value crossed = model.layer(own, source, "cross");
  const Discovery found = discover(model.graph.finish(), crossed);
  const AttentionSite& cross = found.sites.back();
  EXPECT_EQ(cross.name, "cross");
  EXPECT_FALSE(cross.is_self_attention());
  EXPECT_EQ(found.streams[cross.query_stream].tokens, 2);
  EXPECT_EQ(found.streams[cross.key_stream].tokens, 3);
  EXPECT_TRUE(found.covers_tokens(cross));
  EXPECT_EQ(found.sites[1].query_stream, cross.query_stream);
}

TEST(AttentionSites, WhatIsInTheBatchAxisBesidesTheInputsAreWindows) {
  SmallAttention model;
  const Value x = model.stream("x", kLength, 6);
  const Value output = model.layer(x, x, "layer");
  const Graph graph = model.graph.finish();
  EXPECT_EQ(discover(graph, output, 6).sites.at(0).windows, 1);
  EXPECT_EQ(discover(graph, output, 2).sites.at(0).windows, 3);
}

TEST(ReadOut, OneRow) {
  OneLayer model;
  const ReadOut found = model.read_out(slice(model.graph, model.last, 1, 3, 1, "row"));
  EXPECT_EQ(found.kind, ReadOut::Kind::kRow);
  EXPECT_EQ(found.row, 3);
  EXPECT_EQ(found.stream, 0);
  EXPECT_EQ(found.read, model.last);
  EXPECT_EQ(found.axis, 1);
}

TEST(ReadOut, TheMeanOfAllTokensOrOfSome) {
  OneLayer all;
  const ReadOut mean_of_all = all.read_out(mean(all.graph, all.last, 1, "mean"));
  EXPECT_EQ(mean_of_all.kind, ReadOut::Kind::kMean);
  EXPECT_EQ(mean_of_all.row, 0);
  EXPECT_EQ(mean_of_all.rows, kLength);

  OneLayer some;
  const Value rest = slice(some.graph, some.last, 1, 1, 4, "rest");
  const ReadOut mean_of_rest = some.read_out(mean(some.graph, rest, 1, "mean"));
  EXPECT_EQ(mean_of_rest.kind, ReadOut::Kind::kMean);
  EXPECT_EQ(mean_of_rest.row, 1);
  EXPECT_EQ(mean_of_rest.rows, 4);
}

TEST(ReadOut, ARowBesideTheMeanShareAlike) {
  OneLayer model;
  const Value row = reshape(model.graph, slice(model.graph, model.last, 1, 0, 1, "row"),
                            {1, SmallAttention::kWidth}, "row");
  const Value average = mean(model.graph, model.last, 1, "mean");
  const ReadOut found = model.read_out(concat(model.graph, row, average, 1, "both"));
  EXPECT_EQ(found.kind, ReadOut::Kind::kShares);
  // Half for the row, half for the mean of five.
  EXPECT_THAT(found.shares, ElementsAre(DoubleEq(0.6), DoubleEq(0.1), DoubleEq(0.1), DoubleEq(0.1),
                                        DoubleEq(0.1)));
}

TEST(ReadOut, AProductWithWeightsOfTheTokens) {
  OneLayer model;
  const Value weights = model.graph.input("weights", {1, 1, kLength}, DType::kFloat32);
  const ReadOut found = model.read_out(matmul(model.graph, weights, model.last, "weighted"));
  EXPECT_EQ(found.kind, ReadOut::Kind::kWeights);
  EXPECT_EQ(found.weights, weights);
  EXPECT_EQ(found.read, model.last);
}

TEST(ReadOut, ARowWhoseNumberIsAnInput) {
  OneLayer model;
  const Value index = model.graph.input("index", {1}, DType::kInt64);
  const ReadOut found = model.read_out(gather(model.graph, model.last, index, 1, "chosen"));
  EXPECT_EQ(found.kind, ReadOut::Kind::kChosen);
}

TEST(ReadOut, AnAnswerForEachToken) {
  OneLayer model;
  const Value output = activation(model.graph, model.last, ActivationFunction::kTanh, "each");
  const ReadOut found = model.read_out(output);
  EXPECT_EQ(found.kind, ReadOut::Kind::kEach);
  EXPECT_EQ(found.read, output);
  EXPECT_EQ(found.axis, 1);
}

}  // namespace
}  // namespace whyformer
