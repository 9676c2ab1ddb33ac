// Attention of some tokens to all of them, and of tokens to themselves and learned keys: one
// stream.
#include <gtest/gtest.h>

#include "discovery/attention_sites.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

constexpr int64_t kTokens = 5, kWidth = 3;

struct Built {
  GraphBuilder graph;
  Value tokens = graph.input("tokens", {1, 2, kTokens, kWidth}, DType::kFloat32);

  Value attend(Value queries, Value stream, const std::string& name) {
    // Keys and values are made from the stream, not the stream itself.
    const Value keys =
        add(graph, stream,
            graph.constant(Tensor::zeros(graph.shape(stream), DType::kFloat32), name), name);
    const Value scores = matmul(graph, queries, transpose(graph, keys, {0, 1, 3, 2}, name), name);
    return matmul(graph, softmax(graph, scores, {}, 1, name), keys, name);
  }
  Value learned(int64_t count) {
    return graph.constant(Tensor::zeros({1, 2, count, kWidth}, DType::kFloat32), "learned");
  }
  Discovery found(Value output) { return discover(graph.finish(), output); }
};

TEST(SiteTokens, QueriesCutFromTheKeysAreRowsOfTheirStream) {
  for (const int64_t count : {1, 2}) {
    Built model;
    const Value first = model.attend(model.tokens, model.tokens, "first");
    const Value cut = slice(model.graph, first, 2, 3, count, "cut");
    const Value last = add(model.graph, cut, model.attend(cut, first, "last"), "sum");
    const Discovery found = model.found(slice(model.graph, last, 2, count - 1, 1, "read"));
    ASSERT_EQ(found.sites.size(), 2u);
    EXPECT_EQ(found.streams.size(), 1u);
    EXPECT_FALSE(found.sites[0].first_query);
    EXPECT_TRUE(found.sites[1].is_self_attention());
    EXPECT_EQ(found.sites[1].first_query, 3);
    EXPECT_EQ(found.read_out.kind, ReadOut::Kind::kRow);
    EXPECT_EQ(found.read_out.row, 3 + count - 1);
    EXPECT_EQ(found.read_out.first, 3);
  }
}

// Cut rows that go on to attend to each other have a residual path of their own.
TEST(SiteTokens, CutRowsThatAreAttendedToAreAStreamOfTheirOwn) {
  Built model;
  const Value whole = model.attend(model.tokens, model.tokens, "whole");
  const Value cut = slice(model.graph, whole, 2, 0, 2, "cut");
  const Value asked = add(model.graph, cut, model.attend(cut, whole, "ask"), "sum");
  const Discovery found = model.found(model.attend(asked, asked, "own"));
  EXPECT_EQ(found.streams.size(), 2u);
  EXPECT_FALSE(found.sites[1].first_query);
}

TEST(SiteTokens, LearnedKeysBesideTheTokensMakeNoOtherStream) {
  Built model;
  const Value once = concat(model.graph, model.learned(1), model.tokens, 2, "once");
  const Value keys = concat(model.graph, once, model.learned(2), 2, "twice");
  const Discovery found = model.found(model.attend(model.tokens, keys, "attention"));
  ASSERT_EQ(found.sites.size(), 1u);
  EXPECT_EQ(found.streams.size(), 1u);
  EXPECT_EQ(found.streams[0].tokens, kTokens);
  EXPECT_TRUE(found.sites[0].is_self_attention());
  EXPECT_EQ(found.sites[0].first_key, 1);
}

}  // namespace
}  // namespace whyformer
