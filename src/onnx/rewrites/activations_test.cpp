// Activations as exporters write them out: recognised, the same numbers, and all relevance passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "graph/pass.h"
#include "onnx/rewrites/rewrite.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "relevance/policy.h"
#include "relevance/relevance_walk.h"

namespace whyformer::onnx {
namespace {

using testing::ElementsAre;

// Writes formulas of values and numbers.
struct Formula {
  GraphBuilder graph{Folding::kYes};
  Value x = graph.input("x", {2, 5}, DType::kFloat32);

  Value number(double value) {
    const auto rounded = static_cast<float>(value);
    return graph.constant(Tensor::of<float>({}, std::span<const float>(&rounded, 1)), "number");
  }
  Value times(Value a, Value b) { return binary(graph, a, b, BinaryFunction::kMultiply, "times"); }
  Value over(Value a, Value b) { return binary(graph, a, b, BinaryFunction::kDivide, "over"); }
  Value plus(Value a, Value b) { return add(graph, a, b, "plus"); }
  Value at_least(Value a, double bound) {
    return binary(graph, a, number(bound), BinaryFunction::kMaximum, "max");
  }
  Value at_most(Value a, double bound) {
    return binary(graph, a, number(bound), BinaryFunction::kMinimum, "min");
  }
  Value erf(Value a) { return unary(graph, a, UnaryFunction::kErf, "erf"); }
  Value tanh(Value a) { return activation(graph, a, ActivationFunction::kTanh, "tanh"); }
  Value relu(Value a) { return activation(graph, a, ActivationFunction::kRelu, "relu"); }
};

Tensor given_numbers() {
  return Tensor::of<float>(
      {2, 5}, std::vector<float>{-4, -2.5f, -1, -0.25f, 0.5f, 1, 1.75f, 2.9f, 3.5f, 6});
}

struct Seen {
  std::vector<std::string> kinds;  // without constants
  std::vector<double> values;
  double passed = 0;  // relevance at x for each 1 at the output
};

// Relevance starts at the sum of the outputs, by the rule that gives element-wise functions all of
// it.
Seen looked_through(Formula& formula, Value y) {
  const Value sum = reduce(formula.graph, y, Reduction::kSum, {1}, false, "sum");
  const Value out =
      reshape(formula.graph, reduce(formula.graph, sum, Reduction::kSum, {0}, true, "total"),
              {1, 1}, "out");
  const Graph graph = formula.graph.finish();
  const Rewritten found = rewrite(graph, {y, out}, 2, {});
  Seen seen;
  for (const Node& node : found.graph.nodes()) {
    if (!is_a<Constant, ops::ReduceSum, ops::Reshape>(*node.op))
      seen.kinds.emplace_back(node.op->kind());
  }
  const Value x = found.new_value[formula.x.id], end = found.new_value[out.id];
  const Pass pass =
      run(found.graph, {{x, given_numbers()}}, {.keep = Keep::kEverything, .outputs = {end}});
  seen.values = pass[found.new_value[y.id]].to_doubles();
  RelevanceWalk walk(found.graph, pass, end, {0}, policy_named("attn-lrp"),
                     RelevanceForm::kExplicit, {x}, RelevanceWalk::Notes::kNone);
  const std::vector<double> relevance = walk.at(x).to_doubles();
  seen.passed =
      std::accumulate(relevance.begin(), relevance.end(), 0.0) / pass[end].to_doubles()[0];
  return seen;
}

std::vector<double> expected_by(const std::function<double(double)>& f) {
  std::vector<double> values;
  for (const double x : given_numbers().to_doubles()) values.push_back(f(x));
  return values;
}

void expect_one_function(Formula& formula, Value y, const std::vector<std::string>& kinds,
                         const std::function<double(double)>& f) {
  const Seen seen = looked_through(formula, y);
  EXPECT_EQ(seen.kinds, kinds);
  EXPECT_THAT(seen.values, testing::Pointwise(testing::DoubleNear(2e-6), expected_by(f)));
  EXPECT_NEAR(seen.passed, 1, 1e-5);
}

double hard_swish_of(double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }
double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2))); }
double gelu_tanh_of(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(WrittenOutActivations, HardSwishIsOneFunctionHoweverItIsWritten) {
  using Write = std::function<Value(Formula&)>;
  const std::vector<std::pair<Write, std::vector<std::string>>> spellings{
      // x · (clip(x + 3) / 6), as PyTorch exports it to old opsets.
      {[](Formula& f) {
         return f.times(f.x,
                        f.over(f.at_most(f.at_least(f.plus(f.x, f.number(3)), 0), 6), f.number(6)));
       },
       {"HardSwish"}},
      // (x · relu6(x + 3)) / 6, the bounds the other way round.
      {[](Formula& f) {
         return f.over(f.times(f.x, f.at_least(f.at_most(f.plus(f.number(3), f.x), 6), 0)),
                       f.number(6));
       },
       {"HardSwish", "Mul", "Div"}},
      {[](Formula& f) {
         return f.times(f.times(f.x, f.number(1.0 / 6)),
                        f.at_most(f.relu(f.plus(f.x, f.number(3))), 6));
       },
       {"HardSwish"}},
      // x · clip(x/6 + 1/2, 0, 1).
      {[](Formula& f) {
         return f.times(
             f.at_most(f.at_least(f.plus(f.over(f.x, f.number(6)), f.number(0.5)), 0), 1), f.x);
       },
       {"HardSwish"}},
      {[](Formula& f) { return f.times(f.x, hard_sigmoid(f.graph, f.x, 1.0 / 6, 0.5, "gate")); },
       {"HardSwish"}}};
  for (const auto& [write, kinds] : spellings) {
    Formula formula;
    const Value y = write(formula);
    expect_one_function(formula, y, kinds, hard_swish_of);
  }
}

TEST(WrittenOutActivations, RelevancePassesSixteenHardSwishesWhole) {
  Formula f;
  Value y = f.x;
  for (int i = 0; i < 16; ++i) {
    const Value x = f.plus(y, f.x);
    y = f.times(x, f.over(f.at_most(f.at_least(f.plus(x, f.number(3)), 0), 6), f.number(6)));
  }
  EXPECT_NEAR(looked_through(f, y).passed, 1, 1e-4);
}

TEST(WrittenOutActivations, AGeluOfAScaledInputIsAGelu) {
  const auto halved = [](double x) { return gelu_of(0.7 * x); };
  {  // The scaled value is written once and read twice.
    Formula f;
    const Value x = f.times(f.x, f.number(0.7));
    const Value y = f.times(f.times(x, f.number(0.5)),
                            f.plus(f.number(1), f.erf(f.over(x, f.number(std::sqrt(2))))));
    expect_one_function(f, y, {"Mul", "Activation"}, halved);
  }
  {  // Scales folded into one number each.
    Formula f;
    const Value y =
        f.times(f.times(f.x, f.number(0.35)),
                f.plus(f.erf(f.times(f.x, f.number(0.7 * std::sqrt(0.5)))), f.number(1)));
    expect_one_function(f, y, {"Mul", "Activation"}, halved);
  }
  {  // x · (½ + ½ erf), twice as large.
    Formula f;
    const Value gate = f.plus(f.times(f.erf(f.times(f.x, f.number(std::sqrt(0.5)))), f.number(0.5)),
                              f.number(0.5));
    expect_one_function(f, f.times(f.times(f.x, f.number(2)), gate), {"Activation", "Mul"},
                        [](double x) { return 2 * gelu_of(x); });
  }
}

TEST(WrittenOutActivations, AGeluByTanhMayBeScaledAndFactored) {
  const double root = std::sqrt(2 / M_PI);
  {  // 0.5 x (1 + tanh(√(2/π) x (1 + 0.044715 x²))), as transformers' gelu_fast.
    Formula f;
    const Value square = f.times(f.times(f.x, f.x), f.number(0.044715));
    const Value inner = f.times(f.times(f.x, f.number(root)), f.plus(f.number(1), square));
    expect_one_function(f, f.times(f.times(f.x, f.number(0.5)), f.plus(f.number(1), f.tanh(inner))),
                        {"Activation"}, gelu_tanh_of);
  }
  {  // Of 1.5 x, with a power.
    Formula f;
    const Value x = f.times(f.x, f.number(1.5));
    const Value cube = binary(f.graph, x, f.number(3), BinaryFunction::kPower, "cube");
    const Value inner = f.times(f.plus(x, f.times(cube, f.number(0.044715))), f.number(root));
    expect_one_function(f, f.times(f.times(x, f.plus(f.number(1), f.tanh(inner))), f.number(0.5)),
                        {"Mul", "Activation"}, [](double v) { return gelu_tanh_of(1.5 * v); });
  }
}

TEST(WrittenOutActivations, ASigmoidOfAScaledInputIsOneFunction) {
  Formula f;
  const Value x = f.times(f.x, f.number(0.25));
  expect_one_function(f, f.times(x, activation(f.graph, x, ActivationFunction::kSigmoid, "gate")),
                      {"Mul", "Activation"},
                      [](double v) { return 0.25 * v / (1 + std::exp(-0.25 * v)); });
}

// A product with a function of something else, or with another bend, is no activation.
TEST(WrittenOutActivations, OtherProductsStay) {
  Formula f;
  const Value gate = f.at_most(f.at_least(f.plus(f.x, f.number(2)), 0), 6);
  EXPECT_THAT(looked_through(f, f.times(f.x, gate)).kinds, ElementsAre("Add", "Max", "Min", "Mul"));
  Formula g;
  const Value other =
      g.plus(g.number(1), g.erf(g.times(g.times(g.x, g.x), g.number(std::sqrt(0.5)))));
  EXPECT_THAT(looked_through(g, g.times(g.x, other)).kinds, testing::Contains("Erf"));
}

}  // namespace
}  // namespace whyformer::onnx
