#include "models/batch_axis.h"

#include <gtest/gtest.h>

#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kWidth = 8;

// Small models whose inputs have their batch here and there.
class FindBatches : public testing::Test {
 protected:
  Value input(const std::string& name, const Shape& shape, DType dtype = DType::kFloat32) {
    return built_.inputs[name] = graph_.input(name, shape, dtype);
  }

  Value projected(Value x) {
    const Shape weight{kWidth, graph_.shape(x).back()};
    return linear(graph_, x,
                  std::make_shared<LinearWeights>(Tensor::zeros(weight, DType::kFloat32), Tensor()),
                  "project");
  }

  Value looked_up(Value ids) {
    return embedding(graph_, ids, Tensor::zeros({20, kWidth}, DType::kFloat32), "table");
  }

  // From queries [tokens, batch, width] to keys [others, batch, width], with two heads in the axis
  // of the batch.
  Value attended(Value queries, Value keys) {
    const auto heads = [&](Value x) {
      const Shape& shape = graph_.shape(x);
      return transpose(graph_, reshape(graph_, x, {shape[0], 2 * shape[1], kWidth / 2}, "split"),
                       {1, 0, 2}, "heads");
    };
    const Value scores =
        matmul(graph_, heads(queries), transpose(graph_, heads(keys), {0, 2, 1}, "keys"), "scores");
    const Value mixed = matmul(graph_, softmax(graph_, scores, {}, 1, "map"), heads(keys), "mixed");
    return reshape(graph_, transpose(graph_, mixed, {1, 0, 2}, "back"), graph_.shape(queries),
                   "merged");
  }

  Value exchanged(Value x) { return transpose(graph_, x, {1, 0, 2}, "exchanged"); }

  BatchPlaces found() {
    built_.graph = graph_.finish();
    return find_batches(built_);
  }

  GraphBuilder graph_;
  onnx::BuiltGraph built_;
};

TEST_F(FindBatches, TokensInFrontOfABatch) {
  for (const int64_t tokens : {2, 3, 6}) {
    graph_ = GraphBuilder();
    built_ = onnx::BuiltGraph();
    const Value x = projected(input("x", {tokens, 3, 4}));
    attended(x, x);
    const BatchPlace place = found().at("x");
    EXPECT_EQ(place.axis, BatchAxis::kSecond);
    EXPECT_TRUE(place.sure);
  }
}

TEST_F(FindBatches, ABatchInFront) {
  const Value x = exchanged(projected(input("x", {3, 5, 4})));
  attended(x, x);
  EXPECT_EQ(found().at("x").axis, BatchAxis::kFirst);
}

TEST_F(FindBatches, OneInputAlone) {
  const Value ids =
      reshape(graph_, looked_up(input("ids", {6}, DType::kInt64)), {6, 1, kWidth}, "with batch");
  const Value x = reshape(graph_, projected(input("x", {5, 4})), {5, 1, kWidth}, "with batch");
  attended(ids, ids);
  attended(x, x);
  const BatchPlaces places = found();
  EXPECT_EQ(places.at("ids").axis, BatchAxis::kNone);
  EXPECT_EQ(places.at("x").axis, BatchAxis::kNone);
}

// The first step of a decoder.
TEST_F(FindBatches, ASingleTokenHasItsBatchWhereTheOthersLengthsSay) {
  const Value memory = projected(input("memory", {6, 3, 4})),
              target = projected(input("target", {1, 3, 4}));
  attended(memory, memory);
  attended(target, memory);
  const BatchPlaces places = found();
  EXPECT_EQ(places.at("memory").axis, BatchAxis::kSecond);
  EXPECT_EQ(places.at("target").axis, BatchAxis::kSecond);
}

TEST_F(FindBatches, ASingleTokenOfOneInputFollowsTheOthers) {
  const Value memory = projected(input("memory", {6, 1, 4})),
              target = projected(input("target", {1, 1, 4}));
  attended(memory, memory);
  attended(target, memory);
  const BatchPlace place = found().at("target");
  EXPECT_EQ(place.axis, BatchAxis::kSecond);
  EXPECT_FALSE(place.sure);
}

TEST_F(FindBatches, ASingleTokenThatOthersArePutBesideIsNoBatch) {
  const Value start = graph_.constant(Tensor::zeros({1, 1, kWidth}, DType::kFloat32), "start");
  const Value x = concat(graph_, start, projected(input("x", {1, 1, 4})), 0, "all");
  attended(x, x);
  EXPECT_EQ(found().at("x").axis, BatchAxis::kSecond);
}

TEST_F(FindBatches, ASingleTokenBeforeABatchIsToldByItsNumbers) {
  const Value x = projected(input("x", {1, 3, 4}));
  attended(x, x);
  EXPECT_EQ(found().at("x").axis, BatchAxis::kSecond);
}

// Numbers for each token that only the head reads.
TEST_F(FindBatches, TokensThatNeverMeetAreNoBatchWhereOthersSayThereIsOne) {
  const Value ids = exchanged(looked_up(input("ids", {1, 5}, DType::kInt64)));
  const Value states = exchanged(attended(ids, ids));
  add(graph_, states, projected(input("extra", {1, 5, 4})), "head");
  EXPECT_EQ(found().at("extra").axis, BatchAxis::kFirst);
}

TEST_F(FindBatches, TokensOfAModelWithoutAttentionAreNoBatch) {
  softmax(graph_, projected(input("x", {1, 3, 4})), {}, 1, "classes");
  EXPECT_EQ(found().at("x").axis, BatchAxis::kFirst);
}

TEST_F(FindBatches, ABatchThatTheHeadMixesIsStillNoToken) {
  const Value x = projected(input("x", {5, 3, 4}));
  const Value states = attended(x, x);
  const Value mean = reduce(graph_, states, Reduction::kMean, {1}, true, "over the batch");
  subtract(graph_, states, mean, "centred");
  const BatchPlace place = found().at("x");
  EXPECT_EQ(place.axis, BatchAxis::kSecond);
  EXPECT_FALSE(place.sure);
}

TEST_F(FindBatches, WhatIsToldCounts) {
  const Value x = projected(input("x", {5, 3, 4}));
  attended(x, x);
  BatchPlaces places = found();
  tell_batches(built_, {{"x", 0}}, places);
  EXPECT_EQ(places.at("x").axis, BatchAxis::kFirst);
  tell_batches(built_, {{"x", std::nullopt}}, places);
  EXPECT_EQ(places.at("x").axis, BatchAxis::kNone);
  tell_batches(built_, {{"x", 1}}, places);
  EXPECT_EQ(places.at("x").axis, BatchAxis::kSecond);
  EXPECT_THROW(tell_batches(built_, {{"x", 2}}, places), InvalidInput);
  EXPECT_THROW(tell_batches(built_, {{"y", 0}}, places), InvalidInput);
}

TEST(BatchInFront, GoesThereAndBack) {
  const std::vector<float> numbers{0, 1, 2, 3, 4, 5};
  const Tensor array = Tensor::of<float>({3, 2}, std::span<const float>(numbers));
  for (const BatchAxis axis : {BatchAxis::kFirst, BatchAxis::kSecond, BatchAxis::kNone}) {
    const Tensor turned = with_batch_in_front(array, axis);
    EXPECT_EQ(turned.shape(), axis == BatchAxis::kFirst    ? (Shape{3, 2})
                              : axis == BatchAxis::kSecond ? (Shape{2, 3})
                                                           : (Shape{1, 3, 2}));
    EXPECT_EQ(as_in_file(turned, axis).contiguous().to_doubles(), array.to_doubles());
  }
}

}  // namespace
}  // namespace whyformer
