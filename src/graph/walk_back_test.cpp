#include "graph/walk_back.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/ops.h"
#include "tests/support/check_op.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Tensor row_of_doubles(const std::vector<double>& values) {
  return Tensor::of<double>({static_cast<int64_t>(values.size())}, std::span<const double>(values));
}

// Gradients, with a list of the nodes that were passed and what was wanted of each.
class RecordingRule final : public LocalRule {
 public:
  Tensors back(const Node& node, const Call& call, TensorSpan from_outputs,
               const Wanted& wanted) const override {
    passed.push_back(node.name);
    wanted_of[node.name] = wanted;
    return node.op->gradient(call, from_outputs, wanted);
  }

  mutable std::vector<std::string> passed;
  mutable std::map<std::string, Wanted> wanted_of;
};

// b = 2a, c = b·b + b and, beside the way, d = 3a.
struct SmallChain {
  SmallChain() {
    GraphBuilder builder;
    a = builder.input("a", {2}, DType::kFloat64);
    const Value two = builder.constant(row_of_doubles({2, 2}), "two");
    b = binary(builder, a, two, BinaryFunction::kMultiply, "double");
    const Value square = binary(builder, b, b, BinaryFunction::kMultiply, "square");
    c = add(builder, square, b, "sum");
    d = add(builder, b, a, "beside");
    graph = builder.finish();
    pass =
        run(graph, {{a, row_of_doubles({1, -3})}}, {.keep = Keep::kEverything, .outputs = {c, d}});
  }

  Value a, b, c, d;
  Graph graph;
  Pass pass;
};

TEST(WalkBack, AddsWhatArrivesByEveryWay) {
  const SmallChain chain;
  const auto found = walk_back(chain.graph, chain.pass, chain.c, row_of_doubles({1, 1}),
                               gradient_rule(), {chain.a, chain.b});
  // dc/db = 2b + 1 with b = 2 and -6, dc/da twice that.
  EXPECT_THAT(found.at(chain.b).to_doubles(), ElementsAre(5, -11));
  EXPECT_THAT(found.at(chain.a).to_doubles(), ElementsAre(10, -22));
}

// A fed value does not depend on what would have made it.
TEST(WalkBack, DoesNotPassThroughWhatWasFed) {
  const SmallChain chain;
  const Pass pass =
      run(chain.graph, {{chain.a, row_of_doubles({1, -3})}, {chain.b, row_of_doubles({4, 5})}},
          {.keep = Keep::kGradients, .outputs = {chain.c, chain.d}});
  const auto slopes_of = [&](Value from) {
    return walk_back(chain.graph, pass, from, row_of_doubles({1, 1}), gradient_rule(),
                     {chain.a, chain.b});
  };
  EXPECT_THAT(slopes_of(chain.c).at(chain.b).to_doubles(), ElementsAre(9, 11));
  EXPECT_THAT(slopes_of(chain.c).at(chain.a).to_doubles(), ElementsAre(0, 0));
  EXPECT_THAT(slopes_of(chain.d).at(chain.a).to_doubles(), ElementsAre(1, 1));
}

TEST(WalkBack, BeginsWithTheSeed) {
  const SmallChain chain;
  const auto found = walk_back(chain.graph, chain.pass, chain.c, row_of_doubles({0, 2}),
                               gradient_rule(), {chain.b});
  EXPECT_THAT(found.at(chain.b).to_doubles(), ElementsAre(0, -22));
}

TEST(WalkBack, GivesZerosToWhatTheStartDoesNotDependOn) {
  const SmallChain chain;
  const auto found = walk_back(chain.graph, chain.pass, chain.c, row_of_doubles({1, 1}),
                               gradient_rule(), {chain.d});
  EXPECT_THAT(found.at(chain.d).to_doubles(), ElementsAre(0, 0));
}

TEST(WalkBack, PassesNoNodeBelowTheLowestWantedValueOrBesideTheWay) {
  const SmallChain chain;
  const RecordingRule rule;
  walk_back(chain.graph, chain.pass, chain.c, row_of_doubles({1, 1}), rule, {chain.b});
  EXPECT_THAT(rule.passed, ElementsAre("sum", "square"));
}

TEST(WalkBack, WantsNothingOfConstants) {
  const SmallChain chain;
  const RecordingRule rule;
  walk_back(chain.graph, chain.pass, chain.c, row_of_doubles({1, 1}), rule, {chain.a});
  EXPECT_THAT(rule.wanted_of.at("double"), ElementsAre(true, false));
  EXPECT_THAT(rule.wanted_of.at("square"), ElementsAre(true, true));
}

TEST(WalkBack, GoesOnFromWhereItStoppedWhenMoreIsAsked) {
  const SmallChain chain;
  const RecordingRule rule;
  BackwardWalk walk(chain.graph, chain.pass, chain.c, row_of_doubles({1, 1}), rule,
                    {chain.a, chain.b});
  EXPECT_THAT(rule.passed, IsEmpty());
  EXPECT_THAT(walk.at(chain.b).to_doubles(), ElementsAre(5, -11));
  EXPECT_THAT(rule.passed, ElementsAre("sum", "square"));
  EXPECT_THAT(walk.at(chain.a).to_doubles(), ElementsAre(10, -22));
  EXPECT_THAT(rule.passed, ElementsAre("sum", "square", "double"));
}

// softmax(a·b), whose two nodes may be passed in one step.
struct ScoreGraph {
  explicit ScoreGraph(DType dtype) {
    GraphBuilder builder;
    a = builder.input("a", {1, 2, 3, 4}, dtype);
    b = builder.input("b", {1, 2, 4, 5}, dtype);
    p = softmax(builder, matmul(builder, a, b, "scores"), {}, 0.5, "map");
    graph = builder.finish();
  }
  Pass at(const Tensor& a_numbers, const Tensor& b_numbers) const {
    return run(graph, {{a, a_numbers}, {b, b_numbers}}, {.keep = Keep::kGradients, .outputs = {p}});
  }

  Value a, b, p;
  Graph graph;
};

TEST(WalkBack, GradientEqualsFiniteDifferences) {
  const ScoreGraph scores(DType::kFloat64);
  const Tensor a = random_tensor({1, 2, 3, 4}, DType::kFloat64, 1),
               b = random_tensor({1, 2, 4, 5}, DType::kFloat64, 2),
               seed = random_tensor({1, 2, 3, 5}, DType::kFloat64, 3);
  const Pass pass = scores.at(a, b);
  const auto found =
      walk_back(scores.graph, pass, scores.p, seed, gradient_rule(), {scores.a, scores.b});
  const auto weighted_sum = [&](const Tensor& a_numbers, const Tensor& b_numbers) {
    const std::vector<double> p = scores.at(a_numbers, b_numbers)[scores.p].to_doubles(),
                              weights = seed.to_doubles();
    double sum = 0;
    for (size_t i = 0; i < p.size(); ++i) sum += p[i] * weights[i];
    return sum;
  };
  constexpr double kStep = 1e-5;
  for (const Value input : {scores.a, scores.b}) {
    const Tensor& x = input == scores.a ? a : b;
    const std::vector<double> gradient = found.at(input).to_doubles();
    for (int64_t i = 0; i < x.size(); ++i) {
      double sums[2];
      for (const int side : {0, 1}) {
        Tensor moved = x.copy();
        moved.mutable_data<double>()[i] += side == 0 ? -kStep : kStep;
        sums[side] = input == scores.a ? weighted_sum(moved, b) : weighted_sum(a, moved);
      }
      EXPECT_NEAR(gradient[i], (sums[1] - sums[0]) / (2 * kStep), 1e-8);
    }
  }
}

TEST(WalkBack, TwoNodesInOneStepGiveWhatTheyGiveOneByOne) {
  const ScoreGraph scores(DType::kFloat32);
  const Pass pass = scores.at(random_tensor({1, 2, 3, 4}, DType::kFloat32, 1),
                              random_tensor({1, 2, 4, 5}, DType::kFloat32, 2));
  const Tensor seed = random_tensor({1, 2, 3, 5}, DType::kFloat32, 3);
  const RecordingRule one_by_one;
  const auto expected =
      walk_back(scores.graph, pass, scores.p, seed, one_by_one, {scores.a, scores.b});
  EXPECT_THAT(one_by_one.passed, ElementsAre("map", "scores"));
  const auto found =
      walk_back(scores.graph, pass, scores.p, seed, gradient_rule(), {scores.a, scores.b});
  for (const Value input : {scores.a, scores.b}) {
    const std::vector<double> together = found.at(input).to_doubles(),
                              apart = expected.at(input).to_doubles();
    ASSERT_EQ(together.size(), apart.size());
    for (size_t i = 0; i < apart.size(); ++i) EXPECT_NEAR(together[i], apart[i], 1e-6);
  }
}

}  // namespace
}  // namespace whyformer
