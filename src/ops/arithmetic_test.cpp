#include "ops/arithmetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/pass.h"
#include "graph/walk_back.h"
#include "ops/ops.h"
#include "tests/support/check_op.h"
#include "tests/support/walk_relevance.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using testing::ElementsAre;
using Inputs = std::vector<Value>;
using Doubles = std::vector<double>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNotANumber = std::numeric_limits<double>::quiet_NaN();

Tensor numbers(Shape shape, std::initializer_list<double> values) {
  return Tensor::of<double>(std::move(shape), values);
}
Tensor integers(Shape shape, std::initializer_list<int64_t> values) {
  return Tensor::of<int64_t>(std::move(shape), values);
}

// The operator on those tensors, computed while the graph is built.
template <typename Build>
Tensor folded(const Build& build, const Tensors& tensors) {
  GraphBuilder builder(Folding::kYes);
  Inputs inputs;
  for (const Tensor& tensor : tensors) inputs.push_back(builder.constant(tensor, "constant"));
  return *builder.known(build(builder, inputs));
}

Tensor of_one(UnaryFunction f, const Tensor& x) {
  return folded([f](auto& g, const Inputs& in) { return unary(g, in[0], f, "f"); }, {x});
}

Tensor of_two(BinaryFunction f, const Tensor& a, const Tensor& b) {
  return folded([f](auto& g, const Inputs& in) { return binary(g, in[0], in[1], f, "f"); }, {a, b});
}

// Gradients of the sum of the outputs, weighted by `seed`.
template <typename Build>
std::vector<Doubles> gradients(const Build& build, const Tensors& tensors, const Tensor& seed) {
  GraphBuilder builder;
  Inputs inputs;
  Feeds feeds;
  for (const Tensor& tensor : tensors) {
    inputs.push_back(builder.input("input", tensor.shape(), tensor.dtype()));
    feeds[inputs.back()] = tensor;
  }
  const Value output = build(builder, inputs);
  const Graph graph = builder.finish();
  const Pass pass = run(graph, feeds, {.keep = Keep::kGradients, .outputs = {output}});
  const auto found = walk_back(graph, pass, output, seed, gradient_rule(), inputs);
  std::vector<Doubles> results;
  for (const Value input : inputs) results.push_back(found.at(input).to_doubles());
  return results;
}

TEST(Unary, SlopesAreDerivatives) {
  const auto check = [](UnaryFunction f, double low, double high) {
    check_op({.build = [f](auto& g, const Inputs& x, DType) { return unary(g, x[0], f, "f"); },
              .inputs = {{3, 7}},
              .smallest_input = low,
              .largest_input = high});
  };
  for (const UnaryFunction f :
       {UnaryFunction::kNegate, UnaryFunction::kAbs, UnaryFunction::kExp, UnaryFunction::kErf,
        UnaryFunction::kSin, UnaryFunction::kCos, UnaryFunction::kSoftplus, UnaryFunction::kSign,
        UnaryFunction::kFloor, UnaryFunction::kCeil, UnaryFunction::kRound}) {
    check(f, -3, 3);
  }
  for (const UnaryFunction f :
       {UnaryFunction::kSqrt, UnaryFunction::kReciprocal, UnaryFunction::kLog}) {
    check(f, 0.5, 3);
  }
}

TEST(Unary, ReadsViewsAndKeepsEmptyAndSingleNumbers) {
  const auto turned = [](auto& g, const Inputs& x, DType) {
    return unary(g, transpose(g, x[0], {2, 0, 1}, "t"), UnaryFunction::kExp, "f");
  };
  check_op({.build = turned, .inputs = {{2, 3, 4}}});
  check_op({.build = [](auto& g, const Inputs& x,
                        DType) { return unary(g, x[0], UnaryFunction::kExp, "f"); },
            .inputs = {{}}});
  EXPECT_EQ(of_one(UnaryFunction::kExp, Tensor::zeros({2, 0})).shape(), (Shape{2, 0}));
}

// Neither the repeated operand nor the repeated incoming gradient has a loop of its own.
TEST(ElementWise, ReadsRepeatedElementsBothWays) {
  const auto repeated = [](GraphBuilder& g, Value x) { return expand(g, x, {3, 5}, "e"); };
  const auto summed = [](GraphBuilder& g, Value x) {
    return reduce(g, x, Reduction::kSum, {1}, false, "s");
  };
  check_op({.build =
                [&](auto& g, const Inputs& x, DType) {
                  return summed(g, unary(g, repeated(g, x[0]), UnaryFunction::kExp, "f"));
                },
            .inputs = {{3, 1}}});
  check_op({.build =
                [&](auto& g, const Inputs& x, DType) {
                  return summed(g,
                                binary(g, repeated(g, x[0]), x[1], BinaryFunction::kMultiply, "f"));
                },
            .inputs = {{3, 1}, {3, 5}}});
}

TEST(Unary, RoundsHalvesToEvenAndAnswersQuestionsWithIntegers) {
  EXPECT_THAT(of_one(UnaryFunction::kRound, numbers({4}, {0.5, 1.5, -2.5, 2.6})).to_doubles(),
              ElementsAre(0, 2, -2, 3));
  const Tensor nan = of_one(UnaryFunction::kIsNan, numbers({3}, {1, kNotANumber, kInfinity}));
  EXPECT_EQ(nan.dtype(), DType::kInt64);
  EXPECT_THAT(nan.to_doubles(), ElementsAre(0, 1, 0));
  EXPECT_THAT(of_one(UnaryFunction::kNot, integers({2}, {0, 1})).to_doubles(), ElementsAre(1, 0));
  EXPECT_THAT(of_one(UnaryFunction::kNegate, integers({2}, {3, -4})).to_doubles(),
              ElementsAre(-3, 4));
  EXPECT_THROW(of_one(UnaryFunction::kSqrt, integers({1}, {4})), InvalidInput);
}

TEST(Unary, InfiniteSlopePassesNothingWhereNothingArrives) {
  const auto found =
      gradients([](auto& g, const Inputs& x) { return unary(g, x[0], UnaryFunction::kSqrt, "f"); },
                {numbers({2}, {0, 4})}, numbers({2}, {0, 1}));
  EXPECT_THAT(found[0], ElementsAre(0, 0.25));
}

TEST(BentFunctions, SlopesAreDerivatives) {
  const auto check = [](auto build) {
    check_op({.build = build, .inputs = {{5, 8}}, .smallest_input = -5, .largest_input = 5});
  };
  check([](auto& g, const Inputs& x, DType) { return leaky_relu(g, x[0], 0.1, "f"); });
  check([](auto& g, const Inputs& x, DType) { return elu(g, x[0], 0.7, "f"); });
  check([](auto& g, const Inputs& x, DType) { return hard_sigmoid(g, x[0], 0.3, 0.4, "f"); });
  check([](auto& g, const Inputs& x, DType) { return hard_swish(g, x[0], "f"); });
  check([](auto& g, const Inputs& x, DType) { return sigmoid_times(g, x[0], 1.702, "f"); });
}

TEST(BentFunctions, GiveWhatIsNotANumberBack) {
  using Build = Value (*)(GraphBuilder&, Value);
  const Build functions[] = {
      [](GraphBuilder& g, Value x) { return leaky_relu(g, x, 0.1, "f"); },
      [](GraphBuilder& g, Value x) { return elu(g, x, 0.7, "f"); },
      [](GraphBuilder& g, Value x) { return hard_sigmoid(g, x, 0.3, 0.4, "f"); },
      [](GraphBuilder& g, Value x) { return hard_swish(g, x, "f"); },
      [](GraphBuilder& g, Value x) { return sigmoid_times(g, x, 1.702, "f"); }};
  for (const Build build : functions) {
    GraphBuilder builder;
    const Value x = builder.input("x", {2}, DType::kFloat64);
    const Value y = build(builder, x);
    const Graph graph = builder.finish();
    const Pass pass = run(graph, {{x, numbers({2}, {kNotANumber, 0.5})}}, {.outputs = {y}});
    EXPECT_THAT(pass[y].to_doubles(),
                ElementsAre(testing::IsNan(), testing::Not(testing::IsNan())));
  }
}

TEST(Binary, GradientsAreDerivativesForEveryWayToBroadcast) {
  const std::vector<std::vector<Shape>> shapes{{{2, 3, 4}, {2, 3, 4}}, {{2, 3, 4}, {}},
                                               {{}, {3, 4}},           {{2, 3, 4}, {4}},
                                               {{2, 3, 1}, {1, 3, 4}}, {{3, 1}, {2, 1, 4}}};
  for (const BinaryFunction f :
       {BinaryFunction::kSubtract, BinaryFunction::kMultiply, BinaryFunction::kDivide,
        BinaryFunction::kPower, BinaryFunction::kModulo, BinaryFunction::kRemainder,
        BinaryFunction::kMinimum, BinaryFunction::kMaximum}) {
    for (const auto& inputs : shapes) {
      check_op(
          {.build = [f](auto& g, const Inputs& x, DType) { return binary(g, x[0], x[1], f, "f"); },
           .inputs = inputs,
           .smallest_input = 0.3,
           .largest_input = 2});
    }
  }
}

TEST(Binary, ReadsViews) {
  check_op({.build =
                [](auto& g, const Inputs& x, DType) {
                  const Value turned = transpose(g, x[1], {1, 0}, "t");
                  return binary(g, x[0], turned, BinaryFunction::kMultiply, "f");
                },
            .inputs = {{2, 3, 5}, {5, 3}}});
}

TEST(Binary, WholePowersOfNegativeNumbersHaveSlopes) {
  for (const double exponent : {2.0, 3.0, 5.0, 1.0, 0.0, -1.0}) {
    check_op({.build =
                  [=](auto& g, const Inputs& x, DType dtype) {
                    const Value e = g.constant(numbers({}, {exponent}).cast(dtype), "e");
                    return binary(g, x[0], e, BinaryFunction::kPower, "f");
                  },
              .inputs = {{2, 3}},
              .smallest_input = -2,
              .largest_input = -0.5});
  }
}

TEST(Binary, IntegersDivideTowardsZeroAndWrap) {
  const Tensor a = integers({4}, {7, -7, 7, -7});
  const Tensor b = integers({4}, {2, 2, -2, -2});
  EXPECT_THAT(of_two(BinaryFunction::kDivide, a, b).to_doubles(), ElementsAre(3, -3, -3, 3));
  EXPECT_THAT(of_two(BinaryFunction::kModulo, a, b).to_doubles(), ElementsAre(1, 1, -1, -1));
  EXPECT_THAT(of_two(BinaryFunction::kRemainder, a, b).to_doubles(), ElementsAre(1, -1, 1, -1));
  EXPECT_THAT(of_two(BinaryFunction::kPower, integers({3}, {3, -2, 5}), integers({3}, {4, 3, 0}))
                  .to_doubles(),
              ElementsAre(81, -8, 1));
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(of_two(BinaryFunction::kDivide, integers({1}, {kLeast}), integers({1}, {-1}))
                .data<int64_t>()[0],
            kLeast);
  EXPECT_EQ(of_two(BinaryFunction::kSubtract, integers({1}, {kLeast}), integers({1}, {1}))
                .data<int64_t>()[0],
            std::numeric_limits<int64_t>::max());
  EXPECT_THROW(of_two(BinaryFunction::kDivide, a, integers({}, {0})), InvalidInput);
}

TEST(Binary, ModuloOfFloatsHasTheSignOfTheDivisor) {
  const Tensor a = numbers({4}, {5.5, -5.5, 5.5, -6});
  const Tensor b = numbers({4}, {3, 3, -3, 3});
  EXPECT_THAT(of_two(BinaryFunction::kModulo, a, b).to_doubles(), ElementsAre(2.5, 0.5, -0.5, 0));
  EXPECT_THAT(of_two(BinaryFunction::kRemainder, a, b).to_doubles(),
              ElementsAre(2.5, -2.5, 2.5, 0));
}

TEST(Binary, ComparisonsGiveTruth) {
  const Tensor a = numbers({3}, {1, 2, kNotANumber});
  const Tensor b = numbers({3}, {2, 2, 2});
  EXPECT_EQ(of_two(BinaryFunction::kLess, a, b).dtype(), DType::kInt64);
  EXPECT_THAT(of_two(BinaryFunction::kLess, a, b).to_doubles(), ElementsAre(1, 0, 0));
  EXPECT_THAT(of_two(BinaryFunction::kLessOrEqual, a, b).to_doubles(), ElementsAre(1, 1, 0));
  EXPECT_THAT(of_two(BinaryFunction::kGreater, b, a).to_doubles(), ElementsAre(1, 0, 0));
  EXPECT_THAT(of_two(BinaryFunction::kGreaterOrEqual, a, b).to_doubles(), ElementsAre(0, 1, 0));
  EXPECT_THAT(of_two(BinaryFunction::kEqual, a, b).to_doubles(), ElementsAre(0, 1, 0));
  const Tensor p = integers({4}, {0, 0, 1, 1});
  const Tensor q = integers({4}, {0, 1, 0, 1});
  EXPECT_THAT(of_two(BinaryFunction::kAnd, p, q).to_doubles(), ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(of_two(BinaryFunction::kOr, p, q).to_doubles(), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(of_two(BinaryFunction::kXor, p, q).to_doubles(), ElementsAre(0, 1, 1, 0));
}

TEST(Binary, TheFirstOfEqualsWinsAndWhatIsNotANumberSpreads) {
  const auto found = gradients(
      [](auto& g, const Inputs& x) { return binary(g, x[0], x[1], BinaryFunction::kMaximum, "f"); },
      {numbers({3}, {1, 2, 3}), numbers({3}, {2, 2, 2})}, numbers({3}, {kInfinity, 5, 7}));
  EXPECT_THAT(found[0], ElementsAre(0, 5, 7));
  EXPECT_THAT(found[1], ElementsAre(kInfinity, 0, 0));
  const Tensor nan = numbers({}, {kNotANumber});
  for (const BinaryFunction f : {BinaryFunction::kMinimum, BinaryFunction::kMaximum}) {
    EXPECT_TRUE(std::isnan(of_two(f, nan, numbers({}, {1})).to_doubles()[0]));
    EXPECT_TRUE(std::isnan(of_two(f, numbers({}, {1}), nan).to_doubles()[0]));
  }
}

TEST(Binary, NamesBothShapesAndBothTypes) {
  GraphBuilder graph;
  const Value a = graph.input("a", {2, 3}, DType::kFloat32);
  const Value b = graph.input("b", {2, 4}, DType::kFloat32);
  const Value c = graph.input("c", {2, 3}, DType::kInt64);
  try {
    binary(graph, a, b, BinaryFunction::kMultiply, "m");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "Mul 'm': shapes [2, 3] and [2, 4] do not fit together");
  }
  try {
    binary(graph, a, c, BinaryFunction::kMultiply, "m");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(),
                 "Mul 'm': needs operands of one type but was given 32-bit floats and integers");
  }
}

TEST(Binary, BroadcastsEmptyAxes) {
  EXPECT_EQ(of_two(BinaryFunction::kMultiply, Tensor::zeros({2, 0}), Tensor::zeros({1})).shape(),
            (Shape{2, 0}));
}

TEST(Where, GivesWhatWasNotTakenExactlyZero) {
  const auto found = gradients(
      [](auto& g, const Inputs& x) { return where(g, x[0], x[1], x[2], "w"); },
      {integers({3}, {1, 0, 1}), numbers({1}, {kNotANumber}), numbers({3}, {1, 2, kInfinity})},
      numbers({3}, {3, kInfinity, 4}));
  EXPECT_THAT(found[1], ElementsAre(7));
  EXPECT_THAT(found[2], ElementsAre(0, kInfinity, 0));
}

TEST(Where, PicksAndPassesGradientsOverBroadcastAxes) {
  check_op({.build =
                [](auto& g, const Inputs& x, DType dtype) {
                  const Value half = g.constant(numbers({}, {0.1}).cast(dtype), "half");
                  const Value above = binary(g, x[0], half, BinaryFunction::kGreater, "above");
                  return where(g, above, x[1], x[2], "w");
                },
            .inputs = {{3, 1}, {2, 1, 4}, {3, 4}}});
}

TEST(Cast, CutsTowardsZeroAndClampsWhatDoesNotFit) {
  const auto to_integers = [](const Tensor& x, bool truth) {
    return folded(
        [=](auto& g, const Inputs& in) { return cast(g, in[0], DType::kInt64, truth, "cast"); },
        {x});
  };
  const Tensor x = numbers({6}, {1.9, -1.9, kNotANumber, kInfinity, -kInfinity, 0});
  const Tensor cut = to_integers(x, false);
  const int64_t* values = cut.data<int64_t>();
  EXPECT_THAT(std::vector<int64_t>(values, values + 6),
              ElementsAre(1, -1, 0, std::numeric_limits<int64_t>::max(),
                          std::numeric_limits<int64_t>::min(), 0));
  EXPECT_THAT(to_integers(x, true).to_doubles(), ElementsAre(1, 1, 1, 1, 1, 0));
  EXPECT_THAT(to_integers(integers({3}, {-2, 0, 1}), true).to_doubles(), ElementsAre(1, 0, 1));
}

TEST(Cast, PassesGradientsBetweenFloats) {
  const auto found = gradients(
      [](auto& g, const Inputs& x) { return cast(g, x[0], DType::kFloat32, false, "cast"); },
      {numbers({2}, {1, 2})}, Tensor::of<float>({2}, {3.0f, 4.0f}));
  EXPECT_THAT(found[0], ElementsAre(3, 4));
}

// Relevance of the inputs of one operator under one rule.
template <typename Build>
std::vector<Doubles> relevances(const Build& build, const Tensors& tensors, const Tensor& seed,
                                const Rule& rule) {
  GraphBuilder builder;
  Inputs inputs;
  Feeds feeds;
  for (const Tensor& tensor : tensors) {
    inputs.push_back(builder.input("input", tensor.shape(), tensor.dtype()));
    feeds[inputs.back()] = tensor;
  }
  const Value output = build(builder, inputs);
  const Graph graph = builder.finish();
  const Pass pass = run(graph, feeds, {.keep = Keep::kEverything, .outputs = {output}});
  const Policy policy{"test", Policy::Seed::kOne, {{.rule = rule}}};
  const auto found =
      walk_back(graph, pass, output, seed,
                PolicyRule(graph, policy, RelevanceForm::kExplicit, nullptr), inputs);
  std::vector<Doubles> results;
  for (const Value input : inputs) results.push_back(found.at(input).to_doubles());
  return results;
}

TEST(ArithmeticRelevance, OfDifferencesIsProportionalWithTheirSign) {
  const auto found = relevances(
      [](auto& g, const Inputs& x) {
        return binary(g, x[0], x[1], BinaryFunction::kSubtract, "s");
      },
      {numbers({2}, {3, 1}), numbers({2}, {1, -1})}, numbers({2}, {4, 6}),
      {.stabiliser = {0, true}});
  EXPECT_THAT(found[0], ElementsAre(6, 3));
  EXPECT_THAT(found[1], ElementsAre(-2, 3));
}

TEST(ArithmeticRelevance, OfProductsIsSharedAndOfQuotientsGoesToTheDividend) {
  const Tensors inputs{numbers({2}, {3, 1}), numbers({1}, {2})};
  const Rule halves{.stabiliser = {0, true}, .shares = {0.5, 0.5}};
  for (const Rule& rule : {halves, Rule{.kind = RuleKind::kIdentity}}) {
    const auto product = relevances(
        [](auto& g, const Inputs& x) {
          return binary(g, x[0], x[1], BinaryFunction::kMultiply, "m");
        },
        inputs, numbers({2}, {4, 6}), rule);
    EXPECT_THAT(product[0], ElementsAre(2, 3));
    EXPECT_THAT(product[1], ElementsAre(5));
  }
  for (const RuleKind kind : {RuleKind::kProportional, RuleKind::kIdentity}) {
    const auto quotient = relevances(
        [](auto& g, const Inputs& x) {
          return binary(g, x[0], x[1], BinaryFunction::kDivide, "d");
        },
        inputs, numbers({2}, {4, 6}), {.kind = kind, .stabiliser = {0, true}});
    EXPECT_THAT(quotient[0], ElementsAre(4, 6));
    EXPECT_THAT(quotient[1], ElementsAre(0));
  }
}

// A norm, a gate and a pooling as exporters write them.
Value spelt_out(GraphBuilder& g, Value x) {
  const Value mean = reduce(g, x, Reduction::kMean, {2}, true, "mean");
  const Value centred = binary(g, x, mean, BinaryFunction::kSubtract, "centre");
  const Value square = binary(g, centred, centred, BinaryFunction::kMultiply, "square");
  const Value variance = reduce(g, square, Reduction::kMean, {2}, true, "variance");
  const Value deviation = unary(g, variance, UnaryFunction::kSqrt, "deviation");
  const Value normal = binary(g, centred, deviation, BinaryFunction::kDivide, "normalise");
  const Value gated =
      binary(g, normal, sigmoid_times(g, x, 1.702, "gate"), BinaryFunction::kMultiply, "gated");
  const Value largest = binary(g, gated, x, BinaryFunction::kMaximum, "largest");
  return reduce(g, largest, Reduction::kSum, {1}, false, "pool");
}

TEST(ArithmeticRelevance, PassesUnderEveryPolicy) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 4, 6}, DType::kFloat64);
  const Value y = spelt_out(builder, x);
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{x, random_tensor({1, 4, 6}, DType::kFloat64, 3)}},
                        {.keep = Keep::kEverything, .outputs = {y}});
  for (const std::string& name : policy_names()) {
    const auto found =
        walk_relevance(graph, pass, y, {2}, policy_named(name), RelevanceForm::kExplicit, {x});
    double magnitude = 0;
    for (const double r : found.at(x).to_doubles()) magnitude += std::abs(r);
    EXPECT_TRUE(std::isfinite(magnitude) && magnitude > 0) << name;
  }
}

TEST(ArithmeticRelevance, AsGradientTimesInputIsThatOfTheRule) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 4, 6}, DType::kFloat64);
  const Value y = spelt_out(builder, x);
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{x, random_tensor({1, 4, 6}, DType::kFloat64, 3)}},
                        {.keep = Keep::kEverything, .outputs = {y}});
  const auto relevance = [&](RelevanceForm form) {
    return walk_relevance(graph, pass, y, {2}, policy_named("attn-lrp"), form, {x})
        .at(x)
        .to_doubles();
  };
  EXPECT_THAT(relevance(RelevanceForm::kGradient),
              testing::Pointwise(testing::DoubleNear(1e-9), relevance(RelevanceForm::kExplicit)));
}

TEST(ArithmeticRelevance, OfAnElementwiseFunctionPassesWhole) {
  const auto found =
      relevances([](auto& g, const Inputs& x) { return unary(g, x[0], UnaryFunction::kErf, "f"); },
                 {numbers({2}, {0.5, -2})}, numbers({2}, {4, 6}), {.stabiliser = {0, true}});
  EXPECT_NEAR(found[0][0], 4, 1e-12);
  EXPECT_NEAR(found[0][1], 6, 1e-12);
}

}  // namespace
}  // namespace whyformer
