#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/pass.h"
#include "graph/walk_back.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "tests/support/check_op.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using Inputs = std::vector<Value>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr Reduction kAll[] = {Reduction::kSum,     Reduction::kMean,         Reduction::kMax,
                              Reduction::kMin,     Reduction::kL1,           Reduction::kL2,
                              Reduction::kProduct, Reduction::kSumOfSquares, Reduction::kLogSumExp};

Tensor folded(const Tensor& x, const std::function<Value(GraphBuilder&, Value)>& build) {
  GraphBuilder builder(Folding::kYes);
  return *builder.known(build(builder, builder.constant(x, "x")));
}

Tensor reduced(const Tensor& x, Reduction f, std::vector<int> axes) {
  return folded(x, [&](auto& g, Value v) { return reduce(g, v, f, axes, false, "r"); });
}

TEST(Reduce, GradientsAreDerivativesOverAnyAxes) {
  const std::vector<std::vector<int>> axes{{}, {0}, {1}, {2}, {2, 0}, {1, 2}};
  for (const Reduction f : kAll) {
    for (const auto& over : axes) {
      for (const bool keep : {false, true}) {
        check_op({.build = [=](auto& g, const Inputs& x,
                               DType) { return reduce(g, x[0], f, over, keep, "r"); },
                  .inputs = {{2, 3, 4}}});
      }
    }
  }
}

TEST(Reduce, EqualsPlainLoopsOnLongRowsAndWideColumns) {
  constexpr int64_t kRows = 37, kColumns = 133;
  const Tensor x = random_tensor({kRows, kColumns}, DType::kFloat32, 5);
  std::vector<double> by_row(kRows, 0), by_column(kColumns, -kInfinity);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      const double v = x.data<float>()[i * kColumns + j];
      by_row[i] += v / kColumns;
      by_column[j] = std::max(by_column[j], v);
    }
  }
  EXPECT_THAT(reduced(x, Reduction::kMean, {1}).to_doubles(),
              testing::Pointwise(testing::DoubleNear(1e-7), by_row));
  EXPECT_THAT(reduced(x, Reduction::kMax, {0}).to_doubles(),
              testing::Pointwise(testing::DoubleEq(), by_column));
  const Tensor turned = x.transpose(0, 1);
  EXPECT_THAT(reduced(turned, Reduction::kMax, {1}).to_doubles(),
              testing::Pointwise(testing::DoubleEq(), by_column));
}

TEST(Reduce, OfIntegersIsExact) {
  const int64_t big = (int64_t{1} << 60) + 1;
  const Tensor x = Tensor::of<int64_t>({2, 2}, {big, 1, -7, 3});
  const Tensor sum = reduced(x, Reduction::kSum, {1});
  EXPECT_EQ(sum.data<int64_t>()[0], big + 1);
  EXPECT_EQ(reduced(x, Reduction::kProduct, {1}).data<int64_t>()[1], -21);
  EXPECT_EQ(reduced(x, Reduction::kMin, {}).data<int64_t>()[0], -7);
  EXPECT_THROW(reduced(x, Reduction::kLogSumExp, {}), InvalidInput);
}

TEST(Reduce, OfNothingIsWhereTheReductionStarts) {
  const Tensor none = Tensor::zeros({2, 0}, DType::kFloat64);
  EXPECT_THAT(reduced(none, Reduction::kSum, {1}).to_doubles(), ElementsAre(0, 0));
  EXPECT_THAT(reduced(none, Reduction::kProduct, {1}).to_doubles(), ElementsAre(1, 1));
  EXPECT_THAT(reduced(none, Reduction::kMax, {1}).to_doubles(),
              ElementsAre(-kInfinity, -kInfinity));
  EXPECT_THAT(reduced(none, Reduction::kLogSumExp, {1}).to_doubles(),
              ElementsAre(-kInfinity, -kInfinity));
  EXPECT_EQ(reduced(none, Reduction::kSum, {0}).shape(), (Shape{0}));
  EXPECT_THAT(reduced(Tensor::of<double>({}, {-3.0}), Reduction::kL1, {}).to_doubles(),
              ElementsAre(3));
}

std::vector<double> gradient(Reduction f, const Tensor& x) {
  GraphBuilder builder;
  const Value input = builder.input("x", x.shape(), x.dtype());
  const Value output = reduce(builder, input, f, {}, false, "r");
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{input, x}}, {.keep = Keep::kGradients, .outputs = {output}});
  return walk_back(graph, pass, output, Tensor::of<double>({}, {6.0}), gradient_rule(), {input})
      .at(input)
      .to_doubles();
}

TEST(Reduce, SharesGradientsAmongEqualsAndHandlesZeros) {
  EXPECT_THAT(gradient(Reduction::kMax, Tensor::of<double>({4}, {2.0, 1.0, 2.0, 2.0})),
              ElementsAre(2, 0, 2, 2));
  EXPECT_THAT(gradient(Reduction::kProduct, Tensor::of<double>({3}, {2.0, 0.0, 4.0})),
              ElementsAre(0, 48, 0));
  EXPECT_THAT(gradient(Reduction::kProduct, Tensor::of<double>({3}, {2.0, 0.0, 0.0})),
              ElementsAre(0, 0, 0));
  EXPECT_THAT(gradient(Reduction::kL2, Tensor::of<double>({2}, {0.0, 0.0})), ElementsAre(0, 0));
}

TEST(Reduce, FollowsTheAxesThatStay) {
  GraphBuilder builder;
  const Value x = builder.input("x", {2, 3, 4, 5}, DType::kFloat32);
  reduce(builder, x, Reduction::kMean, {2, 0}, false, "r");
  const Graph graph = builder.finish();
  const std::vector<ValueType> types{graph.type(x)};
  const Op& op = *graph.nodes()[0].op;
  EXPECT_EQ(op.kind(), "ReduceMean");
  EXPECT_THAT(reduced_axes(op), ElementsAre(0, 2));
  EXPECT_EQ(op.follow(0, types)->sources[0], 1);
  EXPECT_EQ(op.follow(1, types)->sources[0], 3);
}

TEST(Reduce, NamesAnAxisThatIsNotThere) {
  GraphBuilder builder;
  const Value x = builder.input("x", {2, 3}, DType::kFloat32);
  try {
    reduce(builder, x, Reduction::kSum, {2}, true, "r");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "ReduceSum 'r': there is no axis 2 in [2, 3]");
  }
}

TEST(ArgBest, FindsTheFirstOrLastOfEquals) {
  const Tensor x = Tensor::of<float>({2, 3}, {1.f, 5.f, 5.f, 2.f, 0.f, 0.f});
  const auto at = [&](int axis, bool largest, bool last) {
    return folded(x, [=](auto& g, Value v) { return arg_best(g, v, axis, largest, last, "a"); })
        .to_doubles();
  };
  EXPECT_THAT(at(1, true, false), ElementsAre(1, 0));
  EXPECT_THAT(at(1, true, true), ElementsAre(2, 0));
  EXPECT_THAT(at(1, false, true), ElementsAre(0, 2));
  EXPECT_THAT(at(0, true, false), ElementsAre(1, 0, 0));
}

TEST(CumulativeSum, GradientIsTheSumFromTheOtherEnd) {
  for (const int axis : {0, 1}) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        check_op(
            {.build = [=](auto& g, const Inputs& x,
                          DType) { return cumulative_sum(g, x[0], axis, exclusive, reverse, "c"); },
             .inputs = {{3, 4, 2}}});
      }
    }
  }
}

TEST(CumulativeSum, CountsIntegersEitherWay) {
  const Tensor x = Tensor::of<int64_t>({4}, {1, 2, 3, 4});
  const auto sums = [&](bool exclusive, bool reverse) {
    return folded(x, [=](auto& g,
                         Value v) { return cumulative_sum(g, v, 0, exclusive, reverse, "c"); })
        .to_doubles();
  };
  EXPECT_THAT(sums(false, false), ElementsAre(1, 3, 6, 10));
  EXPECT_THAT(sums(true, false), ElementsAre(0, 1, 3, 6));
  EXPECT_THAT(sums(false, true), ElementsAre(10, 9, 7, 4));
  EXPECT_THAT(sums(true, true), ElementsAre(9, 7, 4, 0));
}

}  // namespace
}  // namespace whyformer
