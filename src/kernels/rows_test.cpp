#include "kernels/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/every_target.h"

namespace whyformer {
namespace {

constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kWidths[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 64, 100, 513, 768};

std::vector<float> random_floats(int64_t count, uint32_t seed, float mean = 0,
                                 float deviation = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(mean, deviation);
  std::vector<float> values(count);
  for (float& value : values) value = normal(generator);
  return values;
}

std::vector<double> doubled(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

void expect_row_near(const std::vector<float>& values, const std::vector<double>& expected,
                     double relative, double absolute) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], absolute + relative * std::abs(expected[i])) << "at " << i;
  }
}

std::vector<double> softmax_by_definition(const std::vector<float>& scores, double scale) {
  std::vector<double> p(scores.size());
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += p[i] = std::exp(scale * scores[i]);
  for (double& value : p) value /= sum;
  return p;
}

TEST(Softmax, EqualsTheDefinitionForAnyWidth) {
  for_every_target([] {
    for (const int64_t columns : kWidths) {
      const std::vector<float> scores = random_floats(columns, 1, 0, 4);
      std::vector<float> out(columns);
      softmax_rows(scores.data(), out.data(), 1, columns, 0.5f, nullptr, 0);
      expect_row_near(out, softmax_by_definition(scores, 0.5), 1e-6, 1e-37);
    }
  });
}

// Short rows stay in registers, on every instruction set up to another length.
TEST(Softmax, OfAShortRowHasTheBitsOfALongRowThatIsMaskedBehindIt) {
  for_every_target([] {
    for (int64_t columns = 1; columns <= 33; ++columns) {
      constexpr int64_t kLong = 99;
      const std::vector<float> scores = random_floats(kLong, 1, 0, 4);
      std::vector<float> mask(kLong, -kFloatInfinity), whole(kLong), out(columns);
      std::fill_n(mask.begin(), columns, 0.0f);
      softmax_rows(scores.data(), whole.data(), 1, kLong, 0.5f, mask.data(), 0);
      softmax_rows(scores.data(), out.data(), 1, columns, 0.5f, nullptr, 0);
      EXPECT_EQ(out, std::vector(whole.begin(), whole.begin() + columns)) << columns;
      softmax_rows(scores.data(), out.data(), 1, columns, 0.5f, mask.data(), 0);
      EXPECT_EQ(out, std::vector(whole.begin(), whole.begin() + columns)) << columns;
    }
  });
}

TEST(Softmax, InDoubleEqualsTheDefinition) {
  const std::vector<float> scores = random_floats(37, 1, 0, 4);
  std::vector<double> out = doubled(scores);
  softmax_rows(out.data(), out.data(), 1, 37, 0.5, nullptr, 0);
  const std::vector<double> expected = softmax_by_definition(scores, 0.5);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-15);
}

TEST(Softmax, LargeScoresDoNotOverflow) {
  for_every_target([] {
    const std::vector<float> scores = {3e38f, 1, -3e38f};
    std::vector<float> out(3);
    softmax_rows(scores.data(), out.data(), 1, 3, 1, nullptr, 0);
    EXPECT_EQ(out, (std::vector<float>{1, 0, 0}));
  });
}

TEST(Softmax, MaskedEntriesGetExactlyZeroAndTheOthersShareTheRest) {
  for_every_target([] {
    for (const float masked : {kLowest, -kFloatInfinity}) {
      for (const int64_t columns : {3, 8, 21}) {
        const std::vector<float> scores = random_floats(2 * columns, 2);
        std::vector<float> mask(columns, masked);
        mask[0] = mask[2] = 0;
        std::vector<float> out(2 * columns);
        softmax_rows(scores.data(), out.data(), 2, columns, 1, mask.data(), 0);
        for (int64_t row = 0; row < 2; ++row) {
          const float* p = out.data() + row * columns;
          const float* x = scores.data() + row * columns;
          EXPECT_NEAR(p[0], 1 / (1 + std::exp(double{x[2]} - x[0])), 1e-6);
          EXPECT_NEAR(p[0] + p[2], 1, 1e-6);
          for (int64_t i = 0; i < columns; ++i) {
            if (i != 0 && i != 2) {
              EXPECT_EQ(p[i], 0);
            }
          }
        }
      }
    }
  });
}

TEST(Softmax, EachRowMayHaveItsOwnMask) {
  for_every_target([] {
    const std::vector<float> scores = {1, 1, 1, 1};
    const std::vector<float> mask = {0, -kFloatInfinity, 99, kLowest, 0, 99};
    std::vector<float> out(4);
    softmax_rows(scores.data(), out.data(), 2, 2, 1, mask.data(), 3);
    EXPECT_EQ(out, (std::vector<float>{1, 0, 0, 1}));
  });
}

TEST(Softmax, ARowMaskedEverywhereBecomesZeros) {
  for_every_target([] {
    for (const float masked : {kLowest, -kFloatInfinity}) {
      for (const int64_t columns : {1, 8, 13}) {
        const std::vector<float> scores = random_floats(columns, 3);
        const std::vector<float> mask(columns, masked);
        std::vector<float> out(columns, 5);
        softmax_rows(scores.data(), out.data(), 1, columns, 1, mask.data(), 0);
        EXPECT_EQ(out, std::vector<float>(columns, 0));
      }
    }
  });
  const std::vector<double> scores = {1, 2}, mask = {kLowest, kLowest};
  std::vector<double> out(2, 5);
  softmax_rows(scores.data(), out.data(), 1, 2, 1, mask.data(), 0);
  EXPECT_EQ(out, (std::vector<double>{0, 0}));
}

TEST(Softmax, NanMakesItsWholeRowNanAndNoOther) {
  for_every_target([] {
    for (const int64_t columns : {1, 9, 20}) {
      for (const int64_t where : {int64_t{0}, columns / 2, columns - 1}) {
        std::vector<float> scores(2 * columns, 1), out(2 * columns);
        scores[where] = kNan;
        softmax_rows(scores.data(), out.data(), 2, columns, 1, nullptr, 0);
        for (int64_t i = 0; i < 2 * columns; ++i) EXPECT_EQ(std::isnan(out[i]), i < columns);
      }
    }
  });
}

TEST(Softmax, NoColumnsIsNoWork) {
  for_every_target(
      [] { softmax_rows(static_cast<float*>(nullptr), nullptr, 3, 0, 1, nullptr, 0); });
}

TEST(SoftmaxGradient, EqualsTheFormulaForAnyWidth) {
  for_every_target([] {
    for (const int64_t columns : kWidths) {
      const std::vector<float> scores = random_floats(columns, 4);
      const std::vector<float> dp = random_floats(columns, 5);
      std::vector<float> p(columns), dx(columns);
      softmax_rows(scores.data(), p.data(), 1, columns, 1, nullptr, 0);
      softmax_rows_gradient(p.data(), dp.data(), dx.data(), 1, columns, 0.125f);
      double mean = 0;
      for (int64_t i = 0; i < columns; ++i) mean += double{p[i]} * dp[i];
      std::vector<double> expected(columns);
      for (int64_t i = 0; i < columns; ++i) expected[i] = 0.125 * p[i] * (dp[i] - mean);
      expect_row_near(dx, expected, 1e-6, 1e-8);
    }
  });
}

TEST(SoftmaxGradient, InDoubleEqualsFiniteDifferences) {
  const std::vector<double> scores = {0.3, -1.0, 2.0, 0.7}, dp = {1.0, -2.0, 0.5, 3.0};
  const double scale = 0.5, h = 1e-6;
  const auto weighted = [&](const std::vector<double>& x) {
    std::vector<double> p(4);
    softmax_rows(x.data(), p.data(), 1, 4, scale, nullptr, 0);
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += p[i] * dp[i];
    return sum;
  };
  std::vector<double> p(4), dx(4);
  softmax_rows(scores.data(), p.data(), 1, 4, scale, nullptr, 0);
  softmax_rows_gradient(p.data(), dp.data(), dx.data(), 1, 4, scale);
  for (int i = 0; i < 4; ++i) {
    std::vector<double> up = scores, down = scores;
    up[i] += h;
    down[i] -= h;
    EXPECT_NEAR(dx[i], (weighted(up) - weighted(down)) / (2 * h), 1e-9);
  }
}

struct NormCase {
  int64_t rows, columns;
  std::vector<float> x = random_floats(rows * columns, 6, 0.5f, 2);
  std::vector<float> weight = random_floats(columns, 7, 1, 0.3f);
  std::vector<float> bias = random_floats(columns, 8);
};

TEST(LayerNorm, EqualsTheDoubleVersionForAnyWidth) {
  for_every_target([] {
    for (const int64_t columns : kWidths) {
      const NormCase test = {3, columns};
      const int64_t count = 3 * columns;
      std::vector<float> out(count), normalised(count), inverse(3);
      layer_norm_rows(test.x.data(), test.weight.data(), test.bias.data(), out.data(),
                      normalised.data(), inverse.data(), 3, columns, 1e-5);
      std::vector<double> expected(count), expected_normalised(count), expected_inverse(3);
      layer_norm_rows(doubled(test.x).data(), doubled(test.weight).data(),
                      doubled(test.bias).data(), expected.data(), expected_normalised.data(),
                      expected_inverse.data(), 3, columns, 1e-5);
      expect_row_near(out, expected, 1e-6, 1e-6);
      expect_row_near(normalised, expected_normalised, 1e-6, 1e-6);
      expect_row_near(inverse, expected_inverse, 1e-6, 0);
    }
  });
}

TEST(LayerNorm, NormalisedRowsHaveMeanZeroAndVarianceOne) {
  const NormCase test = {1, 300};
  std::vector<double> out(300), normalised(300);
  layer_norm_rows(doubled(test.x).data(), doubled(test.weight).data(), doubled(test.bias).data(),
                  out.data(), normalised.data(), nullptr, 1, 300, 0.0);
  double mean = 0, variance = 0;
  for (const double value : normalised) mean += value / 300;
  for (const double value : normalised) variance += value * value / 300;
  EXPECT_NEAR(mean, 0, 1e-14);
  EXPECT_NEAR(variance, 1, 1e-12);
  for (int i = 0; i < 300; ++i) {
    EXPECT_NEAR(out[i], normalised[i] * test.weight[i] + test.bias[i], 1e-14);
  }
}

TEST(LayerNorm, ALargeMeanDoesNotSpoilTheVariance) {
  for_every_target([] {
    const int64_t columns = 768;
    const std::vector<float> x = random_floats(columns, 9, 1000, 1);
    const std::vector<float> ones(columns, 1), zeros(columns, 0);
    std::vector<float> out(columns);
    layer_norm_rows(x.data(), ones.data(), zeros.data(), out.data(), nullptr, nullptr, 1, columns,
                    1e-12);
    std::vector<double> expected(columns);
    layer_norm_rows(doubled(x).data(), doubled(ones).data(), doubled(zeros).data(), expected.data(),
                    nullptr, nullptr, 1, columns, 1e-12);
    expect_row_near(out, expected, 1e-6, 1e-6);
  });
}

TEST(LayerNorm, RowsAreIndependentAndMayBeReplacedInPlace) {
  for_every_target([] {
    const NormCase test = {5, 43};
    std::vector<float> single(5 * 43);
    for (int row = 0; row < 5; ++row) {
      layer_norm_rows(test.x.data() + row * 43, test.weight.data(), test.bias.data(),
                      single.data() + row * 43, nullptr, nullptr, 1, 43, 1e-12);
    }
    std::vector<float> x = test.x;
    layer_norm_rows(x.data(), test.weight.data(), test.bias.data(), x.data(), nullptr, nullptr, 5,
                    43, 1e-12);
    EXPECT_EQ(x, single);
  });
}

TEST(LayerNormGradient, EqualsTheDoubleVersionForAnyWidth) {
  for_every_target([] {
    for (const int64_t columns : kWidths) {
      const NormCase test = {2, columns};
      const std::vector<float> dy = random_floats(2 * columns, 10);
      const std::vector<float> normalised = random_floats(2 * columns, 11);
      const std::vector<float> inverse = {0.5f, 2};
      std::vector<float> dx = dy;
      layer_norm_rows_gradient(dx.data(), test.weight.data(), normalised.data(), inverse.data(),
                               dx.data(), 2, columns);
      std::vector<double> expected(2 * columns);
      layer_norm_rows_gradient(doubled(dy).data(), doubled(test.weight).data(),
                               doubled(normalised).data(), doubled(inverse).data(), expected.data(),
                               2, columns);
      expect_row_near(dx, expected, 1e-6, 2e-6);
    }
  });
}

TEST(LayerNormGradient, InDoubleEqualsFiniteDifferences) {
  const int64_t n = 5;
  const std::vector<double> x = {0.3, -1.2, 2.0, 0.1, 0.9}, weight = {1, 0.5, -2, 1.5, 0.7};
  const std::vector<double> bias(n, 0.2), dy = {1, -2, 0.5, 3, -1};
  const auto weighted = [&](const std::vector<double>& at) {
    std::vector<double> out(n);
    layer_norm_rows(at.data(), weight.data(), bias.data(), out.data(), nullptr, nullptr, 1, n,
                    1e-5);
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += out[i] * dy[i];
    return sum;
  };
  std::vector<double> out(n), normalised(n), inverse(1), dx(n);
  layer_norm_rows(x.data(), weight.data(), bias.data(), out.data(), normalised.data(),
                  inverse.data(), 1, n, 1e-5);
  layer_norm_rows_gradient(dy.data(), weight.data(), normalised.data(), inverse.data(), dx.data(),
                           1, n);
  const double h = 1e-6;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<double> up = x, down = x;
    up[i] += h;
    down[i] -= h;
    EXPECT_NEAR(dx[i], (weighted(up) - weighted(down)) / (2 * h), 1e-8);
  }
}

}  // namespace
}  // namespace whyformer
