#include "discovery/stream_origin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/check_op.h"
#include "tests/support/small_attention.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Where the tokens of self-attention over `tokens` come from.
std::vector<StreamSegment> origin_of_tokens(SmallAttention& model, Value tokens) {
  const Value output = model.layer(tokens, tokens, "layer");
  const Discovery found = discover(model.graph.finish(), output);
  EXPECT_EQ(found.streams.size(), 1u);
  return found.streams.at(0).segments;
}

void expect_segment(const StreamSegment& found, StreamSegment::Kind kind, const std::string& input,
                    int64_t length) {
  EXPECT_EQ(found.kind, kind);
  EXPECT_EQ(found.input, input);
  EXPECT_EQ(found.length, length);
}

// [1, 3, 8, 12] in patches of 4 by 4: a grid of 2 by 3 tokens.
Value patch_tokens(SmallAttention& model, Value picture) {
  const Value grid =
      convolution(model.graph, picture, random_tensor({4, 3, 4, 4}, DType::kFloat32, 1), Tensor(),
                  {.kernel = {4, 4},
                   .strides = {4, 4},
                   .dilations = {1, 1},
                   .pads_before = {0, 0},
                   .pads_after = {0, 0}},
                  "patches");
  return transpose(model.graph, reshape(model.graph, grid, {1, 4, 6}, "flat"), {0, 2, 1}, "tokens");
}

TEST(StreamOrigin, RowsPickedByIdsAreTokens) {
  SmallAttention model;
  const Value ids = model.graph.input("ids", {1, 5}, DType::kInt64);
  const auto found = origin_of_tokens(
      model, embedding(model.graph, ids, random_tensor({9, 4}, DType::kFloat32, 1), "words"));
  ASSERT_EQ(found.size(), 1u);
  expect_segment(found[0], StreamSegment::Kind::kTokens, "ids", 5);
  EXPECT_THAT(found[0].axes, ElementsAre(1));
}

TEST(StreamOrigin, PositionsOfAnInputOfNumbersAreFeatures) {
  SmallAttention model;
  const auto found = origin_of_tokens(model, model.stream("numbers", 5));
  ASSERT_EQ(found.size(), 1u);
  expect_segment(found[0], StreamSegment::Kind::kFeatures, "numbers", 5);
  EXPECT_THAT(found[0].axes, ElementsAre(1));
}

TEST(StreamOrigin, AGridThatAConvolutionWalksOverIsPatches) {
  SmallAttention model;
  const Value picture = model.graph.input("pixels", {1, 3, 8, 12}, DType::kFloat32);
  const auto found = origin_of_tokens(model, patch_tokens(model, picture));
  ASSERT_EQ(found.size(), 1u);
  expect_segment(found[0], StreamSegment::Kind::kPatches, "pixels", 6);
  EXPECT_THAT(found[0].grid, ElementsAre(2, 3));
  EXPECT_THAT(found[0].axes, ElementsAre(2, 3));
}

TEST(StreamOrigin, PatchesCutByViewsAloneAreTheSame) {
  SmallAttention model;
  const Value picture = model.graph.input("pixels", {1, 1, 4, 6}, DType::kFloat32);
  Value x = reshape(model.graph, picture, {1, 1, 2, 2, 3, 2}, "cut");
  x = transpose(model.graph, x, {0, 2, 4, 1, 3, 5}, "patches first");
  const auto found = origin_of_tokens(model, reshape(model.graph, x, {1, 6, 4}, "flat"));
  ASSERT_EQ(found.size(), 1u);
  expect_segment(found[0], StreamSegment::Kind::kPatches, "pixels", 6);
  EXPECT_THAT(found[0].grid, ElementsAre(2, 3));
  EXPECT_THAT(found[0].axes, ElementsAre(2, 3));
}

TEST(StreamOrigin, StepsAlongOneAxisAreFrames) {
  SmallAttention model;
  const Value sound = model.graph.input("sound", {1, 3, 10}, DType::kFloat32);
  const Value steps = convolution(
      model.graph, sound, random_tensor({4, 3, 2}, DType::kFloat32, 1), Tensor(),
      {.kernel = {2}, .strides = {2}, .dilations = {1}, .pads_before = {0}, .pads_after = {0}},
      "steps");
  const auto found = origin_of_tokens(model, transpose(model.graph, steps, {0, 2, 1}, "tokens"));
  ASSERT_EQ(found.size(), 1u);
  expect_segment(found[0], StreamSegment::Kind::kFrames, "sound", 5);
  EXPECT_THAT(found[0].axes, ElementsAre(2));
}

TEST(StreamOrigin, ALearnedTokenInFrontOfPatchesIsASegmentOfItsOwn) {
  SmallAttention model;
  const Value picture = model.graph.input("pixels", {1, 3, 8, 12}, DType::kFloat32);
  const Value tokens =
      concat(model.graph, model.learned(1), patch_tokens(model, picture), 1, "tokens");
  const auto found = origin_of_tokens(model, tokens);
  ASSERT_EQ(found.size(), 2u);
  expect_segment(found[0], StreamSegment::Kind::kLearned, "", 1);
  expect_segment(found[1], StreamSegment::Kind::kPatches, "pixels", 6);
}

TEST(StreamOrigin, ConstantPositionsThatAreAddedSayNothing) {
  SmallAttention model;
  const Value x = model.stream("numbers", 5);
  const auto found =
      origin_of_tokens(model, add(model.graph, model.learned(5), x, "with positions"));
  ASSERT_EQ(found.size(), 1u);
  expect_segment(found[0], StreamSegment::Kind::kFeatures, "numbers", 5);
}

TEST(StreamOrigin, QueriesThatAreWeightsAreLearned) {
  SmallAttention model;
  const Value queries = model.learned(3);
  const Value output = model.layer(queries, model.stream("numbers", 5), "cross");
  const Discovery found = discover(model.graph.finish(), output);
  ASSERT_EQ(found.sites.size(), 1u);
  const auto& segments = found.streams[found.sites[0].query_stream].segments;
  ASSERT_EQ(segments.size(), 1u);
  expect_segment(segments[0], StreamSegment::Kind::kLearned, "", 3);
  EXPECT_THAT(segments[0].grid, IsEmpty());
}

TEST(StreamOrigin, SeveralColumnsThatBecomeTokensAreOneSegment) {
  SmallAttention model;
  const Value row = model.graph.input("row", {1, 3}, DType::kFloat32);
  const auto weights =
      std::make_shared<LinearWeights>(random_tensor({4, 1}, DType::kFloat32, 1), Tensor());
  std::vector<Value> columns;
  for (int64_t column = 0; column < 3; ++column) {
    const Value number = slice(model.graph, row, 1, column, 1, "column");
    const Value vector = linear(model.graph, number, weights, "vector");
    columns.push_back(reshape(model.graph, vector, {1, 1, 4}, "token"));
  }
  const auto found = origin_of_tokens(model, concat(model.graph, columns, 1, "tokens"));
  ASSERT_EQ(found.size(), 1u);
  expect_segment(found[0], StreamSegment::Kind::kFeatures, "row", 3);
}

}  // namespace
}  // namespace whyformer
