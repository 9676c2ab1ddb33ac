// Relevance rules of single operators against the formulas in plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "ops/ops.h"
#include "ops/pictures.h"
#include "relevance/relevance_walk.h"
#include "tensor/map.h"
#include "tests/support/check_op.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

using Doubles = std::vector<double>;

double total(const Doubles& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

Policy only(const Rule& rule) { return {"test", Policy::Seed::kOne, {{.rule = rule}}}; }

// An operator on random inputs, and relevance through it.
struct Walked {
  Tensors inputs;
  Tensor output;
  Tensor seed;
  std::vector<Doubles> relevance;  // by input
};

using Build = std::function<Value(GraphBuilder&, const std::vector<Value>&)>;

Walked walk(const Build& build, Tensors inputs, const Rule& rule, Tensor seed = {}) {
  GraphBuilder builder;
  std::vector<Value> values;
  Feeds feeds;
  for (const Tensor& input : inputs) {
    values.push_back(builder.input("input", input.shape(), input.dtype()));
    feeds[values.back()] = input;
  }
  const Value output = build(builder, values);
  const Graph graph = builder.finish();
  const Pass pass = run(graph, feeds, {.keep = Keep::kEverything, .outputs = {output}});
  if (!seed.defined()) seed = random_tensor(graph.shape(output), inputs[0].dtype(), 77);
  const Policy policy = only(rule);
  const auto found =
      walk_back(graph, pass, output, seed,
                PolicyRule(graph, policy, RelevanceForm::kExplicit, nullptr), values);
  Walked walked{std::move(inputs), pass[output], seed, {}};
  for (const Value value : values) walked.relevance.push_back(found.at(value).to_doubles());
  return walked;
}

constexpr int64_t kRows = 3, kIn = 7, kOut = 5;

struct LinearCase {
  Tensor weight = random_tensor({kOut, kIn}, DType::kFloat64, 7);
  Tensor bias = random_tensor({kOut}, DType::kFloat64, 8);
  Tensor x = random_tensor({kRows, kIn}, DType::kFloat64, 9);

  Walked walk_with(const Rule& rule, DType dtype = DType::kFloat64, Tensor seed = {}) const {
    return walk(
        [&](GraphBuilder& graph, const std::vector<Value>& inputs) {
          return linear(graph, inputs[0],
                        std::make_shared<LinearWeights>(weight.cast(dtype), bias.cast(dtype)), "w");
        },
        {x.cast(dtype)}, rule, seed);
  }
  double w(int64_t i, int64_t j) const { return weight.data<double>()[i * kIn + j]; }
  double b(int64_t i) const { return bias.data<double>()[i]; }
  double at(int64_t row, int64_t j) const { return x.data<double>()[row * kIn + j]; }
};

// share(row, output, z) gives each input's part of that output, z the products x_j·w_ij.
Doubles by_loops(const LinearCase& linear, const Walked& walked,
                 const std::function<Doubles(int64_t output, const Doubles& z)>& parts) {
  Doubles result(kRows * kIn, 0.0);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t i = 0; i < kOut; ++i) {
      Doubles z(kIn);
      for (int64_t j = 0; j < kIn; ++j) z[j] = linear.at(row, j) * linear.w(i, j);
      const Doubles part = parts(i, z);
      const double r = walked.seed.to_doubles()[row * kOut + i];
      for (int64_t j = 0; j < kIn; ++j) result[row * kIn + j] += part[j] * r;
    }
  }
  return result;
}

double positive(double z) { return std::max(z, 0.0); }
double negative(double z) { return std::min(z, 0.0); }

Doubles scaled(const Doubles& z, double (*part)(double), double denominator) {
  Doubles result;
  for (const double value : z) result.push_back(denominator == 0 ? 0 : part(value) / denominator);
  return result;
}

double sum_of_parts(const Doubles& z, double (*part)(double)) {
  double sum = 0;
  for (const double value : z) sum += part(value);
  return sum;
}

void expect_near(const Doubles& actual, const Doubles& expected, double tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  double scale = 0;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], tolerance * scale) << "element " << i;
  }
}

TEST(Stabiliser, AddsEpsilonAndGivesZeroOverZero) {
  const Stabiliser plain;
  EXPECT_DOUBLE_EQ(plain.ratio(1.0, 2.0), 1 / (2.0 + 1e-9));
  EXPECT_DOUBLE_EQ(plain.ratio(1.0, -2.0), 1 / (-2.0 + 1e-9));
  EXPECT_EQ(plain.ratio(1.0, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(plain.ratio(1.0, -1e-9), 1 / 1e-9);
  EXPECT_DOUBLE_EQ((Stabiliser{0.5, true}.ratio(1.0, -2.0)), 1 / -2.5);
}

TEST(LinearRelevance, OfPositiveProductsHasOneDenominatorAndIgnoresTheBias) {
  const LinearCase linear;
  const Walked walked = linear.walk_with({.kind = RuleKind::kAlphaBeta});
  const Doubles expected = by_loops(linear, walked, [](int64_t, const Doubles& z) {
    return scaled(z, positive, sum_of_parts(z, positive) + 1e-9);
  });
  expect_near(walked.relevance[0], expected, 1e-12);
  EXPECT_NEAR(total(walked.relevance[0]), total(walked.seed.to_doubles()), 1e-7);
}

TEST(LinearRelevance, OfAlphaBetaWeighsTheTwoGroups) {
  const LinearCase linear;
  const Walked walked = linear.walk_with({.kind = RuleKind::kAlphaBeta, .alpha = 2, .beta = 1});
  const Doubles expected = by_loops(linear, walked, [](int64_t, const Doubles& z) {
    Doubles up = scaled(z, positive, sum_of_parts(z, positive) + 1e-9);
    const Doubles down = scaled(z, negative, sum_of_parts(z, negative) + 1e-9);
    for (size_t j = 0; j < z.size(); ++j) up[j] = 2 * up[j] - down[j];
    return up;
  });
  expect_near(walked.relevance[0], expected, 1e-12);
}

TEST(LinearRelevance, DividedBySignOfTheInputGivesEachGroupEverything) {
  const LinearCase linear;
  const Tensor ones =
      map([](auto) { return 1.0; }, random_tensor({kRows, kOut}, DType::kFloat64, 1));
  const Walked walked =
      linear.walk_with({.kind = RuleKind::kPositiveBySign}, DType::kFloat64, ones);
  Doubles expected(kRows * kIn, 0.0);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t i = 0; i < kOut; ++i) {
      double above = 0, below = 0;
      for (int64_t j = 0; j < kIn; ++j) {
        above += positive(linear.at(row, j)) * positive(linear.w(i, j));
        below += negative(linear.at(row, j)) * negative(linear.w(i, j));
      }
      for (int64_t j = 0; j < kIn; ++j) {
        const double x = linear.at(row, j);
        const double group = x > 0 ? above : below;
        const double w = x > 0 ? positive(linear.w(i, j)) : negative(linear.w(i, j));
        if (group != 0) expected[row * kIn + j] += x * w / (group + 1e-9);
      }
    }
  }
  expect_near(walked.relevance[0], expected, 1e-12);
  const double growth = total(walked.relevance[0]) / static_cast<double>(kRows * kOut);
  EXPECT_GE(growth, 1);
  EXPECT_LE(growth, 2 + 1e-9);
}

TEST(LinearRelevance, OfEpsilonKeepsTheBiasInTheDenominator) {
  const LinearCase linear;
  const Walked walked = linear.walk_with({.stabiliser = {1e-3, true}, .bias = true});
  const Doubles expected = by_loops(linear, walked, [&](int64_t i, const Doubles& z) {
    const double y = total(z) + linear.b(i);
    return scaled(z, [](double v) { return v; }, y + (y < 0 ? -1e-3 : 1e-3));
  });
  expect_near(walked.relevance[0], expected, 1e-12);
}

TEST(LinearRelevance, OfGammaFavoursProductsOfTheOutputsSign) {
  const LinearCase linear;
  for (const double gamma : {0.0, 0.25, 10.0}) {
    const Walked walked = linear.walk_with(
        {.kind = RuleKind::kGamma, .stabiliser = {1e-6, true}, .bias = true, .gamma = gamma});
    const Doubles expected = by_loops(linear, walked, [&](int64_t i, const Doubles& z) {
      const double y = total(z) + linear.b(i);
      const auto part = y > 0 ? positive : negative;
      Doubles p;
      double sum = linear.b(i) + gamma * part(linear.b(i));
      for (const double value : z) p.push_back(value + gamma * part(value));
      sum += total(p);
      return scaled(p, [](double v) { return v; }, sum + (sum < 0 ? -1e-6 : 1e-6));
    });
    expect_near(walked.relevance[0], expected, 1e-11);
  }
}

TEST(LinearRelevance, InFloatEqualsDouble) {
  const LinearCase linear;
  const Tensor seed = random_tensor({kRows, kOut}, DType::kFloat64, 5);
  for (const Rule& rule : {Rule{.kind = RuleKind::kAlphaBeta},
                           Rule{.kind = RuleKind::kAlphaBeta, .alpha = 2, .beta = 1},
                           Rule{.kind = RuleKind::kPositiveBySign}, Rule{.bias = true},
                           Rule{.kind = RuleKind::kGamma, .bias = true, .gamma = 0.25}}) {
    const Walked exact = linear.walk_with(rule, DType::kFloat64, seed);
    const Walked fast = linear.walk_with(rule, DType::kFloat32, seed.cast(DType::kFloat32));
    expect_near(fast.relevance[0], exact.relevance[0], 2e-5);
  }
}

TEST(LinearRelevance, RefusesRulesWithoutMeaning) {
  EXPECT_THROW(LinearCase().walk_with({.kind = RuleKind::kBox}), InvalidInput);
}

Walked walk_add(Tensor a, Tensor b, bool rescale, Tensor seed = {}) {
  return walk([](GraphBuilder& graph,
                 const std::vector<Value>& x) { return add(graph, x[0], x[1], "add"); },
              {std::move(a), std::move(b)}, {.rescale = rescale}, std::move(seed));
}

// Two samples; in the first the addends' sums have opposite signs, in the second the same.
TEST(AddRelevance, RescaledKeepsTheSignOfTheWholeSampleBySample) {
  const Tensor a = Tensor::of<double>({2, 3}, {3, 1, 2, 1, 2, 3});
  const Tensor b = Tensor::of<double>({2, 3}, {-2, 1, -1.5, 1, 1, 1});
  const Tensor r = Tensor::of<double>({2, 3}, {1, 0.5, -0.2, 0.3, 0.3, 0.4});
  const Walked plain = walk_add(a, b, false, r);
  const Walked walked = walk_add(a, b, true, r);
  for (int sample = 0; sample < 2; ++sample) {
    const auto part = [&](const Doubles& values) {
      return total(Doubles(values.begin() + 3 * sample, values.begin() + 3 * sample + 3));
    };
    const double whole = part(r.to_doubles());
    const double left = part(walked.relevance[0]), right = part(walked.relevance[1]);
    EXPECT_NEAR(left + right, whole, 1e-8);
    EXPECT_GE(left * whole, 0);
    EXPECT_GE(right * whole, 0);
    const double k =
        whole / (std::abs(part(plain.relevance[0])) + std::abs(part(plain.relevance[1])));
    const double sign = part(plain.relevance[1]) < 0 ? -1 : 1;
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(walked.relevance[1][3 * sample + i],
                  k * sign * plain.relevance[1][3 * sample + i], 1e-8);
    }
  }
  EXPECT_LT(total({plain.relevance[0][0], plain.relevance[0][1], plain.relevance[0][2]}) *
                total({plain.relevance[1][0], plain.relevance[1][1], plain.relevance[1][2]}),
            0)
      << "the first sample does not exercise the rescaling";
}

TEST(AddRelevance, ASecondSampleChangesNothing) {
  const Tensor a = random_tensor({2, 4, 3}, DType::kFloat64, 1);
  const Tensor b = random_tensor({2, 4, 3}, DType::kFloat64, 2);
  const Tensor r = random_tensor({2, 4, 3}, DType::kFloat64, 3);
  const Walked both = walk_add(a, b, true, r);
  const Walked one = walk_add(a.slice(0, 0, 1), b.slice(0, 0, 1), true, r.slice(0, 0, 1));
  for (size_t i = 0; i < one.relevance[0].size(); ++i) {
    EXPECT_EQ(both.relevance[0][i], one.relevance[0][i]);
  }
}

TEST(AddRelevance, SumsWhatABroadcastAddendReceives) {
  const Walked walked = walk_add(random_tensor({2, 3, 4}, DType::kFloat64, 1),
                                 random_tensor({3, 1}, DType::kFloat64, 2), false);
  EXPECT_NEAR(total(walked.relevance[0]) + total(walked.relevance[1]),
              total(walked.seed.to_doubles()), 1e-6);
}

TEST(MatMulRelevance, GivesEachFactorHalf) {
  const Walked walked = walk(
      [](GraphBuilder& graph, const std::vector<Value>& x) {
        return matmul(graph, x[0], x[1], "m");
      },
      {random_tensor({2, 3, 4}, DType::kFloat64, 1), random_tensor({2, 4, 5}, DType::kFloat64, 2)},
      {.shares = {0.5, 0.5}});
  const double half = total(walked.seed.to_doubles()) / 2;
  EXPECT_NEAR(total(walked.relevance[0]), half, 1e-6);
  EXPECT_NEAR(total(walked.relevance[1]), half, 1e-6);
}

TEST(SoftmaxRelevance, OfTheGradientRuleIsScoreTimesGradientOfTheSeedOverTheProbability) {
  const Tensor scores = random_tensor({2, 5}, DType::kFloat64, 1, -3, 3);
  const Walked walked =
      walk([](GraphBuilder& graph,
              const std::vector<Value>& x) { return softmax(graph, x[0], {}, 0.5, "s"); },
           {scores}, {.kind = RuleKind::kGradient, .stabiliser = {0, true}});
  const Doubles p = walked.output.to_doubles(), r = walked.seed.to_doubles();
  const Doubles x = scores.to_doubles();
  Doubles expected;
  for (int row = 0; row < 2; ++row) {
    for (int i = 0; i < 5; ++i) {
      double slope = 0;  // Σ_j (R_j/p_j) ∂p_j/∂(x_i/2)
      for (int j = 0; j < 5; ++j) {
        const double pi = p[row * 5 + i], pj = p[row * 5 + j];
        slope += r[row * 5 + j] / pj * pj * ((i == j ? 1 : 0) - pi);
      }
      expected.push_back(0.5 * x[row * 5 + i] * slope);
    }
  }
  expect_near(walked.relevance[0], expected, 1e-12);
}

TEST(LayerNormRelevance, WithTheDeviationHeldConstantIsTheShareOfTheCentredRow) {
  const Tensor x = random_tensor({2, 6}, DType::kFloat64, 1);
  const Tensor weight = random_tensor({6}, DType::kFloat64, 2, 0.5, 1.5);
  const Tensor bias = random_tensor({6}, DType::kFloat64, 3);
  const Walked walked = walk(
      [&](GraphBuilder& graph, const std::vector<Value>& v) {
        return layer_norm(graph, v[0], {weight, bias, 1e-5}, "n");
      },
      {x}, {.stabiliser = {0, true}});
  Doubles expected;
  for (int row = 0; row < 2; ++row) {
    const Doubles values = x.select(0, row).to_doubles();
    const double mean = total(values) / 6;
    double variance = 0;
    for (const double v : values) variance += (v - mean) * (v - mean) / 6;
    const double deviation = std::sqrt(variance + 1e-5);
    for (int i = 0; i < 6; ++i) {
      double share = 0;
      for (int j = 0; j < 6; ++j) {
        const double y = walked.output.to_doubles()[row * 6 + j];
        const double slope = weight.to_doubles()[j] * ((i == j ? 1 : 0) - 1.0 / 6) / deviation;
        share += walked.seed.to_doubles()[row * 6 + j] / y * slope;
      }
      expected.push_back(values[i] * share);
    }
  }
  expect_near(walked.relevance[0], expected, 1e-11);
}

TEST(ConvRelevance, OfTheBoxRuleEqualsItsFormulaAndIsConserved) {
  const Tensor image = random_tensor({2, 3, 4, 4}, DType::kFloat64, 1, -2, 2);
  const Tensor weight = random_tensor({4, 12}, DType::kFloat64, 2);
  const Walked walked = walk(
      [&](GraphBuilder& graph, const std::vector<Value>& x) {
        return convolution(
            graph, x[0],
            std::make_shared<LinearWeights>(weight, random_tensor({4}, DType::kFloat64, 3)),
            {.kernel = {2, 2}, .strides = {2, 2}}, "conv");
      },
      {image}, {.kind = RuleKind::kBox});
  const Doubles pixels = image.to_doubles(), w = weight.to_doubles(), r = walked.seed.to_doubles();
  Doubles expected(pixels.size(), 0.0);
  for (int sample = 0; sample < 2; ++sample) {
    const auto first = pixels.begin() + sample * 48;
    const double low = *std::min_element(first, first + 48),
                 high = *std::max_element(first, first + 48);
    for (int window = 0; window < 4; ++window) {
      std::vector<int> at;
      for (int k = 0; k < 12; ++k) {
        at.push_back(sample * 48 + k / 4 * 16 + (window / 2 * 2 + k % 4 / 2) * 4 + window % 2 * 2 +
                     k % 2);
      }
      for (int feature = 0; feature < 4; ++feature) {
        Doubles part;
        for (int k = 0; k < 12; ++k) {
          const double v = w[feature * 12 + k];
          part.push_back(pixels[at[k]] * v - low * positive(v) - high * negative(v));
        }
        const double share = r[(sample * 4 + feature) * 4 + window] / (total(part) + 1e-9);
        for (int k = 0; k < 12; ++k) expected[at[k]] += part[k] * share;
      }
    }
  }
  expect_near(walked.relevance[0], expected, 1e-12);
  EXPECT_NEAR(total(walked.relevance[0]), total(r), 1e-7);
}

TEST(MovingOperators, PutRelevanceBackWhereItCameFrom) {
  const Walked walked = walk(
      [](GraphBuilder& graph, const std::vector<Value>& x) {
        const Value joined = concat(graph, x[0], x[1], 1, "join");
        return slice(graph, transpose(graph, joined, {1, 0}, "turn"), 0, 1, 3, "slice");
      },
      {random_tensor({2, 2}, DType::kFloat64, 1), random_tensor({2, 3}, DType::kFloat64, 2)},
      {.kind = RuleKind::kStop});
  const Doubles r = walked.seed.to_doubles();  // [3, 2]: columns 1 to 3 of the joined matrix
  EXPECT_THAT(walked.relevance[0], testing::ElementsAre(0, r[0], 0, r[1]));
  EXPECT_THAT(walked.relevance[1], testing::ElementsAre(r[2], r[4], 0, r[3], r[5], 0));
}

}  // namespace
}  // namespace whyformer
