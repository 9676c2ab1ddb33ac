// Closed forms and invariants of the matrix steps behind attention methods.
#include "run/attention_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "methods/attention/max_flow.h"
#include "methods/attention/rollout.h"
#include "tests/support/check_op.h"

namespace whyformer {
namespace {

// Random attention maps [heads, n, n] whose rows sum to 1; causal ones see no later key.
Tensor attention_maps(int64_t heads, int64_t n, int seed, bool causal = false) {
  Tensor maps = random_tensor({heads, n, n}, DType::kFloat32, seed, 0.05, 1);
  float* values = maps.mutable_data<float>();
  for (int64_t row = 0; row < heads * n; ++row) {
    float sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      if (causal && j > row % n) values[row * n + j] = 0;
      sum += values[row * n + j];
    }
    for (int64_t j = 0; j < n; ++j) values[row * n + j] /= sum;
  }
  return maps;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t k = 0; k < a.columns; ++k) {
      for (int64_t j = 0; j < b.columns; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  return c;
}

// Â[L-1]···Â[0], later layers from the left.
Matrix rollout_matrix(const std::vector<Tensor>& layers, const RolloutOptions& options = {}) {
  Matrix result = rollout_factor(layers[0], options, 0);
  for (size_t l = 1; l < layers.size(); ++l) {
    result = product(rollout_factor(layers[l], options, 0), result);
  }
  return result;
}

Tensor constant_maps(int64_t n, const std::function<double(int64_t, int64_t)>& entry) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) values.push_back(static_cast<float>(entry(i, j)));
  }
  return Tensor::of<float>({1, n, n}, values);
}

TEST(Rollout, UniformAttentionGivesTheClosedForm) {
  const int64_t n = 4;
  const Tensor uniform = constant_maps(n, [n](int64_t, int64_t) { return 1.0 / n; });
  const std::vector<Tensor> layers(3, uniform);
  const Matrix normalised = rollout_matrix(layers);
  const Matrix plain = rollout_matrix(layers, {.normalise = false});
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const double identity = i == j;
      EXPECT_NEAR(normalised.at(i, j), identity / 8 + (1 - 1.0 / 8) / n, 1e-7);
      EXPECT_NEAR(plain.at(i, j), identity + 7.0 / n, 1e-6);
    }
  }
}

TEST(Rollout, IdentityAttentionGivesTheIdentity) {
  const std::vector<Tensor> layers(3,
                                   constant_maps(4, [](int64_t i, int64_t j) { return i == j; }));
  const Matrix result = rollout_matrix(layers);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 4; ++j) EXPECT_EQ(result.at(i, j), i == j);
  }
}

TEST(Rollout, LaterLayersMultiplyFromTheLeft) {
  // Two different permutations without residual: the product in the wrong order is another one.
  const Tensor first = constant_maps(3, [](int64_t i, int64_t j) { return j == (i + 1) % 3; });
  const Tensor second = constant_maps(3, [](int64_t i, int64_t j) {
    return j == (i == 0 ? 1 : i == 1 ? 0 : 2);
  });
  const RolloutOptions options{.residual = false};
  const Matrix result = rollout_matrix({first, second}, options);
  const Matrix wrong =
      product(rollout_factor(first, options, 0), rollout_factor(second, options, 0));
  // Row 0 of the upper layer reads token 1, which reads token 2 below.
  EXPECT_EQ(result.at(0, 2), 1);
  EXPECT_NE(result.values, wrong.values);
  const std::vector<double> row = times(times({1, 0, 0}, rollout_factor(second, options, 0)),
                                        rollout_factor(first, options, 0));
  EXPECT_EQ(row, (std::vector<double>{0, 0, 1}));
}

TEST(Rollout, RowsSumToOneAndTheRowVectorEqualsTheMatrix) {
  std::vector<Tensor> layers;
  for (int l = 0; l < 4; ++l) layers.push_back(attention_maps(3, 6, l));
  for (const RolloutOptions& options :
       {RolloutOptions{}, RolloutOptions{.fusion = HeadFusion::kMax, .discard = 0.5}}) {
    const Matrix matrix = rollout_matrix(layers, options);
    std::vector<double> row{1, 0, 0, 0, 0, 0};
    for (int l = 3; l >= 0; --l) row = times(row, rollout_factor(layers[l], options, 0));
    double sum = 0;
    for (int64_t j = 0; j < 6; ++j) {
      EXPECT_NEAR(row[j], matrix.at(0, j), 1e-12);
      EXPECT_GE(row[j], 0);
      sum += row[j];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Rollout, CausalAttentionStaysLowerTriangular) {
  std::vector<Tensor> layers;
  for (int l = 0; l < 3; ++l) layers.push_back(attention_maps(2, 5, l, /*causal=*/true));
  const Matrix matrix = rollout_matrix(layers);
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = i + 1; j < 5; ++j) EXPECT_EQ(matrix.at(i, j), 0);
  }
}

TEST(Rollout, PermutingTokensPermutesTheResult) {
  const std::vector<int64_t> order{0, 3, 1, 2};
  std::vector<Tensor> layers, permuted;
  for (int l = 0; l < 3; ++l) {
    layers.push_back(attention_maps(2, 4, l));
    Tensor moved = layers.back().copy();
    for (int64_t h = 0; h < 2; ++h) {
      for (int64_t i = 0; i < 4; ++i) {
        for (int64_t j = 0; j < 4; ++j) {
          moved.mutable_data<float>()[(h * 4 + i) * 4 + j] =
              layers.back().data<float>()[(h * 4 + order[i]) * 4 + order[j]];
        }
      }
    }
    permuted.push_back(moved);
  }
  const Matrix before = rollout_matrix(layers), after = rollout_matrix(permuted);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      EXPECT_NEAR(after.at(i, j), before.at(order[i], order[j]), 1e-12);
    }
  }
}

TEST(Rollout, DiscardingZeroesTheSmallestEntriesButNotTheReadOutTokensOwn) {
  const Tensor maps = Tensor::of<float>({1, 2, 2}, {0.1f, 0.9f, 0.4f, 0.6f});
  const RolloutOptions options{.discard = 0.5, .residual = false, .normalise = false};
  const Matrix factor = rollout_factor(maps, options, 0);
  EXPECT_FLOAT_EQ(static_cast<float>(factor.at(0, 0)), 0.1f);
  EXPECT_EQ(factor.at(1, 0), 0);
  EXPECT_FLOAT_EQ(static_cast<float>(factor.at(1, 1)), 0.6f);
}

TEST(AttentionFlow, OfOneLayerIsItsCapacities) {
  const Matrix layer = rollout_factor(attention_maps(2, 4, 1), {}, 0);
  LayeredFlow flow({layer});
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 4; ++j) EXPECT_NEAR(flow.between(i, j).flow, layer.at(i, j), 1e-12);
  }
}

TEST(AttentionFlow, LiesBetweenRolloutAndTheBoundOfItsEnds) {
  std::vector<Tensor> maps;
  std::vector<Matrix> layers;
  for (int l = 0; l < 3; ++l) {
    // Sharp maps: soft ones reach the bound everywhere.
    Tensor sharp = attention_maps(1, 5, 20 + l);
    for (int64_t i = 0; i < sharp.size(); ++i) {
      sharp.mutable_data<float>()[i] = std::pow(sharp.data<float>()[i] * 5, 6.f);
    }
    maps.push_back(sharp);
    layers.push_back(rollout_factor(sharp, {}, 0));
  }
  const Matrix rolled = rollout_matrix(maps);
  LayeredFlow flow(layers);
  int below_bound = 0;
  for (int64_t u = 0; u < 5; ++u) {
    for (int64_t v = 0; v < 5; ++v) {
      double into = 0;
      for (int64_t i = 0; i < 5; ++i) into += layers[0].at(i, v);
      const LayeredFlow::Result result = flow.between(u, v);
      EXPECT_GE(result.flow, rolled.at(u, v) - 1e-9);
      EXPECT_LE(result.flow, std::min(1.0, into) + 1e-9);
      below_bound += !result.at_bound;
    }
  }
  EXPECT_GT(below_bound, 0) << "every flow is at its bound: the test says nothing";
}

TEST(GenericAttention, ZeroGradientsLeaveTheIdentity) {
  const Tensor attention = attention_maps(2, 4, 3);
  const Matrix map = positive_product(attention, Tensor::zeros({2, 4, 4}));
  for (const double value : map.values) EXPECT_EQ(value, 0);
}

TEST(GenericAttention, ThePositivePartIsTakenBeforeTheHeadMean) {
  const Tensor attention = Tensor::of<float>({2, 1, 1}, {1.f, 1.f});
  const Tensor gradient = Tensor::of<float>({2, 1, 1}, {2.f, -2.f});
  EXPECT_EQ(positive_product(attention, gradient).at(0, 0), 1);
}

TEST(GenericAttention, OppositeTargetsHaveDisjointSupportPerHead) {
  const Tensor attention = attention_maps(1, 5, 4);
  const Tensor gradient = random_tensor({1, 5, 5}, DType::kFloat32, 5);
  Tensor opposite = gradient.copy();
  for (int64_t i = 0; i < 25; ++i) opposite.mutable_data<float>()[i] *= -1;
  const Matrix one = positive_product(attention, gradient);
  const Matrix other = positive_product(attention, opposite);
  for (size_t i = 0; i < 25; ++i) {
    EXPECT_EQ(one.values[i] * other.values[i], 0);
    EXPECT_FLOAT_EQ(static_cast<float>(one.values[i] - other.values[i]),
                    attention.data<float>()[i] * gradient.data<float>()[i]);
  }
}

TEST(MinMax, OfAConstantMapIsZeroNotNan) {
  std::vector<double> scores{3, 3, 3};
  min_max(scores);
  EXPECT_EQ(scores, (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace whyformer
