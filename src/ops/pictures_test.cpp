#include "ops/pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/pass.h"
#include "ops/ops.h"
#include "relevance/relevance_walk.h"
#include "tests/support/check_op.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Inputs = std::vector<Value>;

struct ConvolutionCase {
  Shape input, weight;
  Window window;
};

std::vector<ConvolutionCase> convolution_cases() {
  return {
      {{2, 3, 4, 6}, {4, 3, 2, 2}, {.kernel = {2, 2}}},
      {{2, 3, 4, 6}, {4, 3, 2, 2}, {.kernel = {2, 2}, .strides = {2, 2}}},
      {{1, 2, 9},
       {3, 2, 3},
       {.kernel = {3}, .strides = {2}, .dilations = {2}, .pads_before = {1}, .pads_after = {3}}},
      {{2, 4, 5, 4},
       {6, 2, 3, 2},
       {.kernel = {3, 2},
        .strides = {2, 1},
        .pads_before = {1, 0},
        .pads_after = {0, 2},
        .groups = 2}},
      {{1, 3, 5, 5},
       {3, 1, 3, 3},
       {.kernel = {3, 3}, .pads_before = {1, 1}, .pads_after = {1, 1}, .groups = 3}},
      {{1, 2, 3, 4, 3},
       {2, 2, 2, 3, 2},
       {.kernel = {2, 3, 2},
        .strides = {1, 2, 1},
        .pads_before = {1, 1, 0},
        .pads_after = {0, 1, 1}}}};
}

// The definition in plain loops over every pair of positions of three space axes.
std::vector<double> convolution_by_definition(const Tensor& input, const Tensor& weight,
                                              const Tensor& bias, const Window& window,
                                              const Shape& output) {
  const auto three = [](const std::vector<int64_t>& numbers, size_t from, int64_t otherwise) {
    std::vector<int64_t> result(3, otherwise);
    for (size_t i = from; i < numbers.size(); ++i) result[i + 3 - numbers.size()] = numbers[i];
    return result;
  };
  const auto in = three(input.shape(), 2, 1), kernel = three(window.kernel, 0, 1);
  const auto out = three(output, 2, 1), stride = three(window.strides, 0, 1);
  const auto dilation = three(window.dilations, 0, 1), pad = three(window.pads_before, 0, 0);
  const auto x = input.to_doubles(), w = weight.to_doubles(), b = bias.to_doubles();
  const int64_t depth = weight.dim(1), features = weight.dim(0) / window.groups;
  std::vector<double> y;
  for (int64_t n = 0; n < output[0]; ++n)
    for (int64_t f = 0; f < output[1]; ++f)
      for (int64_t o = 0; o < out[0] * out[1] * out[2]; ++o) {
        double sum = b[f];
        const int64_t at[3] = {o / out[2] / out[1], o / out[2] % out[1], o % out[2]};
        for (int64_t c = 0; c < depth; ++c)
          for (int64_t k = 0; k < kernel[0] * kernel[1] * kernel[2]; ++k) {
            const int64_t tap[3] = {k / kernel[2] / kernel[1], k / kernel[2] % kernel[1],
                                    k % kernel[2]};
            int64_t offset = n * input.dim(1) + f / features * depth + c;
            bool inside = true;
            for (int axis = 0; axis < 3; ++axis) {
              const int64_t p = at[axis] * stride[axis] - pad[axis] + tap[axis] * dilation[axis];
              inside = inside && p >= 0 && p < in[axis];
              offset = offset * in[axis] + p;
            }
            if (inside)
              sum += x[offset] * w[(f * depth + c) * kernel[0] * kernel[1] * kernel[2] + k];
          }
        y.push_back(sum);
      }
  return y;
}

TEST(Convolution, EqualsItsDefinitionAndFiniteDifferences) {
  for (const ConvolutionCase& c : convolution_cases()) {
    const Tensor weight = random_tensor(c.weight, DType::kFloat32, 7);
    const Tensor bias = random_tensor({c.weight[0]}, DType::kFloat32, 8);
    check_op({.build =
                  [&](auto& g, const Inputs& x, DType dtype) {
                    return convolution(g, x[0], weight.cast(dtype), bias.cast(dtype), c.window,
                                       "c");
                  },
              .inputs = {c.input}});
    GraphBuilder builder;
    const Value x = builder.input("x", c.input, DType::kFloat64);
    const Value y = convolution(builder, x, weight.cast(DType::kFloat64),
                                bias.cast(DType::kFloat64), c.window, "c");
    const Graph graph = builder.finish();
    const Tensor input = random_tensor(c.input, DType::kFloat64, 3);
    const Pass pass = run(graph, {{x, input}}, {.outputs = {y}});
    EXPECT_THAT(pass[y].to_doubles(),
                testing::Pointwise(
                    testing::DoubleNear(1e-12),
                    convolution_by_definition(input, weight, bias, c.window, graph.shape(y))));
  }
}

TEST(Convolution, WithVaryingWeightsHasTheirGradientToo) {
  for (const ConvolutionCase& c : convolution_cases()) {
    check_op({.build = [&](auto& g, const Inputs& x,
                           DType) { return convolution(g, x[0], x[1], x[2], c.window, "c"); },
              .inputs = {c.input, c.weight, {c.weight[0]}}});
  }
}

TEST(Convolution, NamesBothSizesWhenTheyDiffer) {
  GraphBuilder graph;
  const Value x = graph.input("x", {1, 3, 8, 8}, DType::kFloat32);
  EXPECT_THAT(
      [&] {
        convolution(graph, x, Tensor::zeros({4, 2, 3, 3}), Tensor(), {.kernel = {3, 3}}, "c");
      },
      testing::ThrowsMessage<InvalidInput>(
          testing::HasSubstr("an input [1, 3, 8, 8] does not fit weights [4, 2, 3, 3]")));
}

// Images with pads: the box rule gives pads nothing, so it conserves what reaches the pixels.
TEST(Convolution, ConservesRelevanceOfTheBoxRuleUnderPads) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 2, 5, 5}, DType::kFloat64);
  const Value y = convolution(builder, x, random_tensor({3, 2, 3, 3}, DType::kFloat64, 1), Tensor(),
                              {.kernel = {3, 3}, .pads_before = {1, 1}, .pads_after = {1, 1}}, "c");
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{x, random_tensor({1, 2, 5, 5}, DType::kFloat64, 2)}},
                        {.keep = Keep::kEverything, .outputs = {y}});
  const Op& op = *graph.nodes()[0].op;
  const Tensor r = random_tensor(graph.shape(y), DType::kFloat64, 4, 0.5, 1);
  const std::vector<ValueType> types{graph.type(x)};
  const Tensors inputs{pass[x]}, outputs{pass[y]}, back{r};
  const Tensors shares =
      op.relevance({types, inputs, outputs, {}}, back, {.kind = RuleKind::kBox}, {true});
  double before = 0, after = 0;
  for (const double value : r.to_doubles()) before += value;
  for (const double value : shares[0].to_doubles()) after += value;
  EXPECT_NEAR(after, before, 1e-6);
}

TEST(TransposedConvolution, IsTheConvolutionTurnedRound) {
  for (const ConvolutionCase& c : convolution_cases()) {
    Shape kernel_of = c.weight;
    Shape input = c.input;
    input[1] = c.weight[0];
    Window window = c.window;
    if (window.pads_after.size() == 2 && window.groups == 2) window.pads_after = {1, 0};
    const Tensor weight = random_tensor(kernel_of, DType::kFloat32, 7);
    const Tensor bias = random_tensor({c.weight[1] * window.groups}, DType::kFloat32, 8);
    check_op({.build =
                  [&](auto& g, const Inputs& x, DType dtype) {
                    return transposed_convolution(g, x[0], weight.cast(dtype), bias.cast(dtype),
                                                  window, {}, "t");
                  },
              .inputs = {input}});
  }
}

TEST(TransposedConvolution, SpreadsItsKernelAndLengthensTheEnd) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 1, 2}, DType::kFloat32);
  const Value y = transposed_convolution(builder, x, Tensor::of<float>({1, 1, 3}, {1.f, 2.f, 3.f}),
                                         Tensor(), {.kernel = {3}, .strides = {2}}, {1}, "t");
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{x, Tensor::of<float>({1, 1, 2}, {10.f, 1.f})}}, {.outputs = {y}});
  EXPECT_THAT(pass[y].to_doubles(), testing::ElementsAre(10, 20, 31, 2, 3, 0));
}

TEST(Pooling, EqualsFiniteDifferences) {
  for (const ConvolutionCase& c : convolution_cases()) {
    if (c.window.groups == 2) continue;  // has windows in nothing but pads
    check_op(
        {.build = [&](auto& g, const Inputs& x, DType) { return max_pool(g, x[0], c.window, "p"); },
         .inputs = {c.input}});
    for (const bool count_pads : {false, true}) {
      check_op({.build = [&](auto& g, const Inputs& x,
                             DType) { return average_pool(g, x[0], c.window, count_pads, "p"); },
                .inputs = {c.input}});
    }
  }
}

TEST(Pooling, CountsPadsButNotWhatHangsOver) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 1, 3}, DType::kFloat32);
  const Window window{
      .kernel = {2}, .strides = {2}, .pads_before = {1}, .pads_after = {1}, .overhang = {1}};
  const Value with = average_pool(builder, x, window, true, "with");
  const Value without = average_pool(builder, x, window, false, "without");
  const Graph graph = builder.finish();
  const Pass pass = run(graph, {{x, Tensor::of<float>({1, 1, 3}, {2.f, 4.f, 8.f})}},
                        {.outputs = {with, without}});
  EXPECT_THAT(pass[with].to_doubles(), testing::ElementsAre(1, 6, 0));
  EXPECT_THAT(pass[without].to_doubles(), testing::ElementsAre(2, 6, 0));
}

TEST(Resize, EqualsFiniteDifferences) {
  const Shape lengths{2, 3, 7};
  for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear, ResizeMode::kCubic}) {
    for (const auto coordinates : {ResizeCoordinates::kHalfPixel, ResizeCoordinates::kAlignCorners,
                                   ResizeCoordinates::kAsymmetric, ResizeCoordinates::kCrop}) {
      ResizeOptions options{.mode = mode, .coordinates = coordinates, .extrapolation = 10};
      if (coordinates == ResizeCoordinates::kCrop) options.roi = {0, 0.4, -0.2, 1, 0.9, 1};
      options.antialias = coordinates == ResizeCoordinates::kHalfPixel;
      check_op(
          {.build = [&](auto& g, const Inputs& x,
                        DType) { return resize(g, x[0], lengths, {1, 0.5, 1.75}, options, "r"); },
           .inputs = {{2, 6, 4}}});
    }
  }
}

// interpolate(torch.arange(8.).reshape(1, 1, 1, 8)**2, (1, 3), mode='bilinear', antialias=True) of
// torch.nn.functional in torch 2.15.
TEST(Resize, EqualsTorchWithAntialias) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 1, 1, 8}, DType::kFloat32);
  const Value y =
      resize(builder, x, {1, 1, 1, 3}, {1, 1, 1, 0.375},
             {.mode = ResizeMode::kLinear, .exclude_outside = true, .antialias = true}, "r");
  const Graph graph = builder.finish();
  const Pass pass = run(
      graph, {{x, Tensor::of<float>({1, 1, 1, 8}, {0.f, 1.f, 4.f, 9.f, 16.f, 25.f, 36.f, 49.f})}},
      {.outputs = {y}});
  EXPECT_THAT(pass[y].to_doubles(),
              testing::Pointwise(testing::DoubleNear(1e-4),
                                 std::vector<double>{2.0526316, 13.452381, 35.578949}));
}

TEST(GridSample, EqualsFiniteDifferencesInAllModesAndPads) {
  for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear, ResizeMode::kCubic}) {
    for (const auto padding :
         {GridPadding::kZeros, GridPadding::kBorder, GridPadding::kReflection}) {
      for (const bool align : {false, true}) {
        check_op(
            {.build = [&](auto& g, const Inputs& x,
                          DType) { return grid_sample(g, x[0], x[1], mode, padding, align, "g"); },
             .inputs = {{2, 2, 4, 3}, {2, 3, 2, 2}},
             .smallest_input = -1.9,
             .largest_input = 1.9});
      }
    }
  }
}

TEST(Pictures, EmptyBatchesAreFine) {
  GraphBuilder builder;
  const Value x = builder.input("x", {0, 2, 4, 4}, DType::kFloat32);
  const Value grid = builder.input("grid", {0, 3, 3, 2}, DType::kFloat32);
  const Window window{.kernel = {3, 3}, .pads_before = {1, 1}, .pads_after = {1, 1}};
  const std::vector<Value> made{
      convolution(builder, x, Tensor::zeros({3, 2, 3, 3}), Tensor(), window, "convolution"),
      transposed_convolution(builder, x, Tensor::zeros({2, 3, 3, 3}), Tensor(), window, {},
                             "turned"),
      max_pool(builder, x, window, "max"),
      average_pool(builder, x, window, true, "average"),
      resize(builder, x, {0, 2, 8, 8}, {1, 1, 2, 2}, {.mode = ResizeMode::kLinear}, "resize"),
      grid_sample(builder, x, grid, ResizeMode::kLinear, GridPadding::kZeros, false, "sample")};
  const Graph graph = builder.finish();
  const Pass pass =
      run(graph, {{x, Tensor::zeros({0, 2, 4, 4})}, {grid, Tensor::zeros({0, 3, 3, 2})}},
          {.outputs = made});
  for (const Value value : made) EXPECT_EQ(pass[value].shape(), graph.shape(value));
}

// Relevance through maps with fixed weights is conserved by every policy's rule for other
// operators.
TEST(Pictures, FixedMapsConserveRelevanceUnderAnyRule) {
  GraphBuilder builder;
  const Value x = builder.input("x", {1, 2, 4, 4}, DType::kFloat64);
  average_pool(builder, x, {.kernel = {2, 2}, .strides = {2, 2}}, true, "average");
  resize(builder, x, {1, 2, 3, 7}, {1, 1, 0.75, 1.75}, {.mode = ResizeMode::kLinear}, "resize");
  const Graph graph = builder.finish();
  const Tensor input = random_tensor({1, 2, 4, 4}, DType::kFloat64, 2, 0.5, 1);
  for (const Node& node : graph.nodes()) {
    const Pass pass =
        run(graph, {{x, input}}, {.keep = Keep::kEverything, .outputs = node.outputs});
    const Tensor r = random_tensor(graph.shape(node.outputs[0]), DType::kFloat64, 4);
    const std::vector<ValueType> types{graph.type(x)};
    const Tensors inputs{pass[x]}, outputs{pass[node.outputs[0]]}, back{r};
    for (const RuleKind kind : {RuleKind::kIdentity, RuleKind::kProportional}) {
      const Tensors shares =
          node.op->relevance({types, inputs, outputs, {}}, back, {.kind = kind}, {true});
      double before = 0, after = 0;
      for (const double value : r.to_doubles()) before += value;
      for (const double value : shares[0].to_doubles()) after += value;
      EXPECT_NEAR(after, before, 1e-6) << node.name;
    }
  }
}

}  // namespace
}  // namespace whyformer
