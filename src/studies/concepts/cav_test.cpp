#include "studies/concepts/cav.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/concepts_test_helpers.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// ½ w·w + C Σ log(1 + exp(−y (w·x + b))) in plain loops.
double objective(const TestRows& x, int64_t inside, const std::vector<double>& w, double b,
                 double c) {
  double sum = 0;
  for (const double one : w) sum += one * one / 2;
  for (int64_t i = 0; i < x.rows; ++i) {
    double z = b;
    for (int64_t j = 0; j < x.width; ++j) z += w[j] * x.row(i)[j];
    sum += c * std::log1p(std::exp(i < inside ? -z : z));
  }
  return sum;
}

// The intercept of centred activations is not that of the activations: b − w·mean.
double intercept_of(const Cav& cav, const TestRows& x, const std::vector<double>& w) {
  double b = cav.intercept;
  for (int64_t j = 0; j < x.width; ++j) {
    double mean = 0;
    for (int64_t i = 0; i < x.rows; ++i) mean += x.row(i)[j];
    b -= w[j] * mean / static_cast<double>(x.rows);
  }
  return b;
}

TEST(Cav, IsStationaryByFiniteDifferences) {
  const TestRows x = normal_rows(18, 6, "overlapping");
  const Cav cav =
      fit_cav(inner_products(x.view(), {}).gram, numbered(0, 8), numbered(8, 10), {.strength = 2});
  std::vector<double> w = weights_of(cav, x);
  const double b = intercept_of(cav, x, w);
  constexpr double kStep = 1e-4;
  for (size_t j = 0; j < w.size(); ++j) {
    const double kept = w[j];
    w[j] = kept + kStep;
    const double up = objective(x, 8, w, b, 2);
    w[j] = kept - kStep;
    const double down = objective(x, 8, w, b, 2);
    w[j] = kept;
    EXPECT_NEAR((up - down) / (2 * kStep), 0, 2e-5);
  }
  EXPECT_NEAR((objective(x, 8, w, b + kStep, 2) - objective(x, 8, w, b - kStep, 2)) / (2 * kStep),
              0, 2e-5);
}

TEST(Cav, StationarityIsExactForAllKindsOfData) {
  for (const auto& [rows, width, scale] : {std::tuple{20, 4, 1.0},
                                           {40, 500, 1.0},
                                           {40, 500, 30.0},
                                           {240, 3000, 1.0},
                                           {16, 3, 1e-4},
                                           {60, 2, 100.0}}) {
    SCOPED_TRACE(testing::Message() << rows << " × " << width << ", " << scale);
    TestRows x = normal_rows(rows, width, "stationary");
    for (float& number : x.numbers) number *= static_cast<float>(scale);
    for (const double strength : {1.0, 0.01, 100.0}) {
      const Cav cav = fit_cav(inner_products(x.view(), {}).gram, numbered(0, rows / 2),
                              numbered(rows / 2, rows - rows / 2), {.strength = strength});
      // K a is a sum of that many products; doubles hold it, and so p, no better than this.
      const double rounding = 0x1p-54 * strength * scale * scale * rows * width;
      EXPECT_LE(cav.stationarity, std::max(1e-10, rounding)) << strength;
      double sum = 0;
      for (const double weight : cav.weights) sum += weight;
      EXPECT_NEAR(sum, 0, 1e-9 * strength);
    }
  }
}

TEST(Cav, IsStationaryWhereAFewExamplesLieFarFromTheOthers) {
  for (const char* name :
       {"far a", "far b", "far c", "far d", "far e", "far f", "far g", "far h"}) {
    for (const auto& [width, scale] : {std::pair{5, 0.3}, {50, 0.3}, {400, 0.1}, {400, 3.0}}) {
      SCOPED_TRACE(testing::Message() << name << ", " << width << ", " << scale);
      TestRows x = normal_rows(40, width, name);
      const TestRows far = normal_rows(40, 1, name);
      for (int64_t i = 0; i < x.rows; ++i) {
        for (int64_t j = 0; j < width; ++j) {
          x.numbers[i * width + j] *= static_cast<float>(scale * std::exp(2 * far.numbers[i]));
        }
      }
      const SquareMatrix gram = inner_products(x.view(), {}).gram;
      const Cav cav = fit_cav(gram, numbered(0, 20), numbered(20, 20));
      const double largest = *std::max_element(gram.numbers.begin(), gram.numbers.end());
      EXPECT_LE(cav.stationarity, std::max(1e-10, 0x1p-52 * 40 * largest));
    }
  }
}

TEST(Cav, TakesFewStepsInManyDimensions) {
  const TestRows x = normal_rows(80, 4000, "steps");
  const Cav cav = fit_cav(inner_products(x.view(), {}).gram, numbered(0, 40), numbered(40, 40));
  EXPECT_LE(cav.steps, 8);
}

TEST(Cav, LengthIsThatOfTheWeights) {
  const TestRows x = normal_rows(30, 12, "length");
  const Cav cav = fit_cav(inner_products(x.view(), {}).gram, numbered(0, 15), numbered(15, 15));
  double square = 0;
  for (const double w : weights_of(cav, x)) square += w * w;
  EXPECT_NEAR(cav.length, std::sqrt(square), 1e-5 * cav.length);
}

TEST(Cav, AgainstTheOtherWayRoundIsItsMirror) {
  const TestRows x = normal_rows(26, 40, "mirror");
  const SquareMatrix gram = inner_products(x.view(), {}).gram;
  const Cav one = fit_cav(gram, numbered(0, 12), numbered(12, 14));
  const Cav other = fit_cav(gram, numbered(12, 14), numbered(0, 12));
  for (int64_t i = 0; i < 12; ++i) EXPECT_NEAR(one.weights[i], -other.weights[14 + i], 1e-9);
  for (int64_t row = 0; row < 26; ++row) {
    EXPECT_NEAR(decision(gram, one, row), -decision(gram, other, row), 1e-7);
  }
}

TEST(Cav, DoesNotChangeWhenAConstantIsAddedToAllActivations) {
  const TestRows x = normal_rows(24, 30, "shift");
  TestRows shifted = x;
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < x.width; ++j)
      shifted.numbers[i * x.width + j] += static_cast<float>(j % 7);
  }
  const Cav plain = fit_cav(inner_products(x.view(), {}).gram, numbered(0, 12), numbered(12, 12));
  const Cav moved =
      fit_cav(inner_products(shifted.view(), {}).gram, numbered(0, 12), numbered(12, 12));
  for (int64_t i = 0; i < 24; ++i) EXPECT_NEAR(plain.weights[i], moved.weights[i], 1e-5);
}

TEST(Cav, OfEqualExamplesIsNothing) {
  const SquareMatrix zeros(8);
  const Cav cav = fit_cav(zeros, numbered(0, 4), numbered(4, 4));
  EXPECT_EQ(cav.length, 0);
  EXPECT_LE(cav.stationarity, 1e-10);
}

TEST(Cav, RefusesWhatIsNotANumberAndEmptySides) {
  SquareMatrix gram(4);
  EXPECT_THROW(fit_cav(gram, {}, numbered(0, 2)), InvalidInput);
  gram.numbers.assign(16, std::nan(""));
  EXPECT_THROW(fit_cav(gram, numbered(0, 2), numbered(2, 2)), InvalidInput);
}

}  // namespace
}  // namespace whyformer
