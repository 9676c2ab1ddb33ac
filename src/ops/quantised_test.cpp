#include "ops/quantised.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/pass.h"
#include "graph/walk_back.h"
#include "ops/arithmetic.h"
#include "ops/ops.h"
#include "relevance/policy.h"
#include "tests/support/check_op.h"
#include "tests/support/walk_relevance.h"

namespace whyformer {
namespace {

using Doubles = std::vector<double>;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

// Whole numbers from `least` to `most`.
Tensor whole_numbers(const Shape& shape, int seed, double least, double most) {
  Doubles numbers = random_tensor(shape, DType::kFloat64, seed, least, most + 1).to_doubles();
  for (double& number : numbers) number = std::min(std::floor(number), most);
  return Tensor::of<double>(shape, std::span<const double>(numbers)).cast(DType::kFloat32);
}

Tensor vector_of(std::initializer_list<float> numbers) {
  return Tensor::of<float>({static_cast<int64_t>(numbers.size())}, numbers);
}

TEST(Quantise, RoundsHalfToEvenAndCutsOff) {
  GraphBuilder builder;
  const Value x = builder.input("x", {7}, DType::kFloat32);
  const Value scale = builder.constant(Tensor::of<float>({}, {2.f}), "scale");
  const Value zero = builder.constant(Tensor::of<float>({}, {10.f}), "zero");
  const Value q = quantise(builder, x, scale, zero, 0, {0, 255}, "q");
  const Value back = dequantise(builder, q, scale, zero, 0, "d");
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{x, vector_of({1, 3, 5, -1, -100, 1000, 6.2f})}},
                        {.keep = Keep::kGradients, .outputs = {q, back}});
  EXPECT_THAT(pass[q].to_doubles(), ElementsAre(10, 12, 12, 10, 0, 255, 13));
  EXPECT_THAT(pass[back].to_doubles(), ElementsAre(0, 4, 4, 0, -20, 490, 6));
  const auto gradients =
      walk_back(graph, pass, back, vector_of({1, 2, 3, 4, 5, 6, 7}), gradient_rule(), {x});
  EXPECT_THAT(gradients.at(x).to_doubles(), ElementsAre(1, 2, 3, 4, 0, 0, 7));
}

TEST(Quantise, TakesAScalePerChannelOrPerBlock) {
  GraphBuilder builder;
  const Value x = builder.input("x", {2, 2, 2}, DType::kFloat32);
  const Value scale = builder.constant(vector_of({1, 10}), "scale");
  const Value zero = builder.constant(vector_of({1, 2}), "zero");
  const Value channels = dequantise(builder, x, scale, zero, 1, "channels");
  const Value last = dequantise(builder, x, scale, Value{}, 2, "last");
  const Value each = builder.constant(Tensor::of<float>({2, 1, 2}, {1.f, 2.f, 3.f, 4.f}), "each");
  const Value blocks = dequantise(builder, x, each, Value{}, 2, "blocks");
  const Graph graph = builder.finish();
  const Pass pass =
      run(graph, {{x, Tensor::of<float>({2, 2, 2}, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f, 8.f})}},
          {.outputs = {channels, last, blocks}});
  EXPECT_THAT(pass[channels].to_doubles(), ElementsAre(0, 1, 10, 20, 4, 5, 50, 60));
  EXPECT_THAT(pass[last].to_doubles(), ElementsAre(1, 20, 3, 40, 5, 60, 7, 80));
  EXPECT_THAT(pass[blocks].to_doubles(), ElementsAre(1, 4, 3, 8, 15, 24, 21, 32));
}

TEST(Dequantise, HasItsScaleAsGradient) {
  check_op({.build =
                [](auto& g, const std::vector<Value>& x, DType dtype) {
                  const Value scale = g.constant(vector_of({0.5f, 2, 3}).cast(dtype), "scale");
                  return dequantise(g, x[0], scale, scale, 1, "d");
                },
            .inputs = {{2, 3, 4}}});
}

// The example in ONNX's documentation of DynamicQuantizeLinear.
TEST(QuantiseDynamically, SpansWhatTheInputSpans) {
  GraphBuilder builder;
  const Value x = builder.input("x", {6}, DType::kFloat32);
  const std::vector<Value> made = quantise_dynamically(builder, x, "q");
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{x, vector_of({0, 2, -3, -2.5f, 1.34f, 0.5f})}}, {.outputs = made});
  EXPECT_THAT(pass[made[0]].to_doubles(), ElementsAre(153, 255, 0, 26, 221, 179));
  EXPECT_NEAR(pass[made[1]].to_doubles()[0], 0.0196078438, 1e-9);
  EXPECT_EQ(pass[made[2]].to_doubles()[0], 153);
}

// Sums beyond 2^24, which a float does not hold: rounded once from the exact sum.
TEST(IntegerMatMul, IsExactWhereFloatSumsAreNot) {
  const Tensor a = whole_numbers({3, 1500}, 1, 0, 255), b = whole_numbers({1500, 4}, 2, -128, 127);
  const Tensor a_zero = vector_of({3, 200, 0}), b_zero = vector_of({-128, 5, 0, 127});
  Doubles expected;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      int64_t sum = 0;
      for (int k = 0; k < 1500; ++k) {
        sum += static_cast<int64_t>(a.to_doubles()[i * 1500 + k] - a_zero.to_doubles()[i]) *
               static_cast<int64_t>(b.to_doubles()[k * 4 + j] - b_zero.to_doubles()[j]);
      }
      expected.push_back(static_cast<float>(sum));
    }
  }
  for (const bool known : {false, true}) {
    GraphBuilder builder(Folding::kYes);
    const Value x = builder.input("x", {3, 1500}, DType::kFloat32);
    const Value y =
        known ? builder.constant(b, "b") : builder.input("b", {1500, 4}, DType::kFloat32);
    const Value c = integer_matmul(builder, x, y, builder.constant(a_zero, "az"),
                                   builder.constant(b_zero, "bz"), "c");
    const Graph graph = builder.finish();
    Feeds feeds{{x, a}};
    if (!known) feeds[y] = b;
    EXPECT_EQ(run(graph, feeds, {.outputs = {c}})[c].to_doubles(), expected);
  }
}

TEST(IntegerMatMul, EqualsFiniteDifferences) {
  check_op({.build = [](auto& g, const std::vector<Value>& x,
                        DType) { return integer_matmul(g, x[0], x[1], {}, {}, "m"); },
            .inputs = {{2, 1, 3, 4}, {3, 4, 2}}});
}

TEST(IntegerConvolution, IsExactWhereFloatSumsAreNot) {
  const Tensor x = whole_numbers({1, 200, 3, 3}, 1, -255, 255);
  const Tensor w = whole_numbers({2, 200, 3, 3}, 2, 100, 255);
  Doubles expected;
  for (int f = 0; f < 2; ++f) {
    double sum = 0;
    for (int k = 0; k < 1800; ++k) sum += x.to_doubles()[k] * w.to_doubles()[f * 1800 + k];
    expected.push_back(static_cast<float>(sum));
  }
  GraphBuilder builder;
  const Value input = builder.input("x", x.shape(), DType::kFloat32);
  const Value y = integer_convolution(builder, input, w, {.kernel = {3, 3}}, "c");
  const Graph graph = builder.finish();
  EXPECT_EQ(run(graph, {{input, x}}, {.outputs = {y}})[y].to_doubles(), expected);
}

// What straight-through gradients mean: those of the Linear whose weights are the dequantised ones.
TEST(QuantisedLinear, HasTheGradientOfItsFloatLinear) {
  const Tensor weight = whole_numbers({16, 5}, 1, -128, 127);
  const Tensor scales = vector_of({0.01f, 0.02f, 0.005f, 0.1f, 0.03f});
  GraphBuilder builder(Folding::kYes);
  const Value x = builder.input("x", {2, 16}, DType::kFloat32);
  const std::vector<Value> q = quantise_dynamically(builder, x, "q");
  const Value product = integer_matmul(builder, q[0], builder.constant(weight, "w"), q[2], {}, "m");
  const Value of_x = dequantise(builder, product, q[1], {}, 0, "scale of x");
  const Value y =
      dequantise(builder, of_x, builder.constant(scales, "scales"), {}, 1, "scale of w");
  const Value exact = linear(
      builder, x, std::make_shared<LinearWeights>(weight.permute({1, 0}).contiguous(), Tensor()),
      "float");
  const Value scaled =
      dequantise(builder, exact, builder.constant(scales, "scales"), {}, 1, "scale");
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{x, random_tensor({2, 16}, DType::kFloat32, 3)}},
                        {.keep = Keep::kGradients, .outputs = {y, scaled}});
  const Tensor seed = random_tensor({2, 5}, DType::kFloat32, 4);
  const auto found = walk_back(graph, pass, y, seed, gradient_rule(), {x});
  const auto expected = walk_back(graph, pass, scaled, seed, gradient_rule(), {x});
  EXPECT_THAT(found.at(x).to_doubles(), Pointwise(DoubleNear(1e-5), expected.at(x).to_doubles()));
  EXPECT_THAT(pass[y].to_doubles(), Pointwise(DoubleNear(0.1), pass[scaled].to_doubles()));
}

// Scales depend on the input but are no factor that takes relevance away.
TEST(QuantisedLinear, ConservesRelevance) {
  GraphBuilder builder(Folding::kYes);
  const Value x = builder.input("x", {1, 16}, DType::kFloat32);
  const std::vector<Value> q = quantise_dynamically(builder, x, "q");
  const Value weight = builder.constant(whole_numbers({16, 5}, 1, -128, 127), "w");
  const Value product = integer_matmul(builder, q[0], weight, q[2], {}, "m");
  const Value scale =
      binary(builder, q[1], builder.constant(Tensor::of<float>({}, {0.01f}), "w scale"),
             BinaryFunction::kMultiply, "scales");
  const Value y = binary(builder, product, scale, BinaryFunction::kMultiply, "y");
  const Graph graph = builder.finish();
  EXPECT_FALSE(graph.varies(scale));
  const Pass pass = run(graph, {{x, random_tensor({1, 16}, DType::kFloat32, 3)}},
                        {.keep = Keep::kEverything, .outputs = {y}});
  for (const char* name : {"attn-lrp", "epsilon"}) {
    const auto relevance =
        walk_relevance(graph, pass, y, {2}, policy_named(name), RelevanceForm::kExplicit, {x});
    double sum = 0;
    for (const double share : relevance.at(x).to_doubles()) sum += share;
    EXPECT_NEAR(sum, pass[y].to_doubles()[2], 1e-4) << name;
  }
}

TEST(Quantised, NothingAndScalarsAreFine) {
  GraphBuilder builder;
  const Value none = builder.input("none", {0, 3}, DType::kFloat32);
  const Value one = builder.input("one", {}, DType::kFloat32);
  const Value scales = builder.constant(vector_of({1, 2, 3}), "scales");
  const Value scale = builder.constant(vector_of({2}), "scale");
  const Value of_none = quantise(builder, none, scales, scales, 1, {0, 255}, "of none");
  const Value of_one = quantise(builder, one, scale, scale, 0, {0, 255}, "of one");
  const Value nothing = quantise_dynamically(builder, none, "dynamic")[0];
  const Value product = integer_matmul(builder, none, builder.constant(Tensor::zeros({3, 2}), "w"),
                                       {}, {}, "product");
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{none, Tensor::zeros({0, 3})}, {one, Tensor::of<float>({}, {7.f})}},
                        {.outputs = {of_none, of_one, nothing, product}});
  EXPECT_EQ(pass[of_none].shape(), (Shape{0, 3}));
  EXPECT_EQ(pass[nothing].shape(), (Shape{0, 3}));
  EXPECT_EQ(pass[product].shape(), (Shape{0, 2}));
  EXPECT_THAT(pass[of_one].to_doubles(), ElementsAre(6));
}

// The one operator against the chain that files spell out, to the last bit.
TEST(QuantisedLinear, EqualsTheChainItStandsFor) {
  const Tensor weight = whole_numbers({300, 5}, 1, -128, 127);
  const Tensor scales = vector_of({0.01f, 0.02f, 0.005f, 0.1f, 0.03f});
  const Tensor bias = vector_of({1, -2, 3, 0, 0.5f});
  GraphBuilder builder(Folding::kYes);
  const Value x = builder.input("x", {2, 4, 300}, DType::kFloat32);
  const std::vector<Value> q = quantise_dynamically(builder, x, "q");
  const Value sums = integer_matmul(builder, q[0], builder.constant(weight, "w"), q[2], {}, "m");
  const Value factor =
      binary(builder, q[1], builder.constant(scales, "s"), BinaryFunction::kMultiply, "factor");
  const Value scaled = binary(builder, sums, factor, BinaryFunction::kMultiply, "scaled");
  const Value chain = add(builder, scaled, builder.constant(bias, "b"), "bias");
  const auto weights = std::make_shared<IntegerWeights>(weight.transpose(0, 1).contiguous());
  const Value one = quantised_linear(builder, x, weights, scales, bias, "one");
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{x, random_tensor({2, 4, 300}, DType::kFloat32, 3)}},
                        {.keep = Keep::kGradients, .outputs = {chain, one}});
  EXPECT_EQ(pass[one].to_doubles(), pass[chain].to_doubles());
  const Tensor seed = random_tensor({2, 4, 5}, DType::kFloat32, 4);
  const auto found = walk_back(graph, pass, one, seed, gradient_rule(), {x});
  const auto expected = walk_back(graph, pass, chain, seed, gradient_rule(), {x});
  EXPECT_THAT(found.at(x).to_doubles(), Pointwise(DoubleNear(1e-4), expected.at(x).to_doubles()));
}

// Weights [in, out] as bytes of a file, less a zero for each column, against the same numbers as
// floats: to the last bit.
TEST(QuantisedLinear, OfBytesEqualsThatOfFloats) {
  constexpr int64_t kIn = 300, kOut = 70;
  for (const bool is_signed : {true, false}) {
    std::string bytes;
    std::vector<float> numbers(kIn * kOut), zeros, scales;
    for (int64_t i = 0; i < kOut; ++i) {
      zeros.push_back(static_cast<float>(is_signed ? i % 5 - 2 : 3 * i));
      scales.push_back(0.01f / static_cast<float>(i + 1));
    }
    for (int64_t i = 0; i < kIn * kOut; ++i) {
      bytes.push_back(static_cast<char>((i * 37 + i / 11) % 256));
      const auto byte = static_cast<uint8_t>(bytes.back());
      const int number = is_signed ? static_cast<int8_t>(byte) : byte;
      numbers[i % kOut * kIn + i / kOut] = static_cast<float>(number) - zeros[i % kOut];
    }
    const Tensor factors = Tensor::of<float>({kOut}, std::span<const float>(scales));
    const std::vector<std::shared_ptr<const IntegerWeights>> both{
        std::make_shared<IntegerWeights>(
            Tensor::of<float>({kOut, kIn}, std::span<const float>(numbers))),
        std::make_shared<IntegerWeights>(
            whole_numbers(StoredBytes{bytes_of(bytes), kOut, kIn, is_signed, true, zeros}))};
    std::vector<std::vector<double>> found;
    for (auto weights : both) {
      if (!found.empty()) {
        EXPECT_EQ(weights->linear().weight().to_doubles(), both[0]->linear().weight().to_doubles());
      }
      for (const bool part : {false, true}) {
        GraphBuilder builder;
        const Value x = builder.input("x", {2, 4, kIn}, DType::kFloat32);
        const Tensor own = part ? factors.slice(0, 5, 3).contiguous() : factors;
        const Value y =
            quantised_linear(builder, x, part ? weights->rows(5, 3) : weights, own, own, "y");
        const Graph graph = builder.finish();
        const Pass pass = run(graph, {{x, random_tensor({2, 4, kIn}, DType::kFloat32, 3)}},
                              {.keep = Keep::kGradients, .outputs = {y}});
        found.push_back(pass[y].to_doubles());
        const Tensor seed = random_tensor(graph.shape(y), DType::kFloat32, 4);
        found.push_back(walk_back(graph, pass, y, seed, gradient_rule(), {x}).at(x).to_doubles());
      }
    }
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(found[i], found[i + 4]) << i;
  }
}

}  // namespace
}  // namespace whyformer
