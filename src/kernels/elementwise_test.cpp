#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tests/support/every_target.h"

namespace whyformer {
namespace {

constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

constexpr ActivationFunction kActivations[] = {
    ActivationFunction::kGelu,     ActivationFunction::kGeluTanh, ActivationFunction::kRelu,
    ActivationFunction::kTanh,     ActivationFunction::kSilu,     ActivationFunction::kSigmoid,
    ActivationFunction::kQuickGelu};

// The definitions, with slopes by central differences in long double.
long double reference(ActivationFunction f, long double x) {
  const auto logistic = [](long double z) { return 1 / (1 + std::exp(-z)); };
  switch (f) {
    case ActivationFunction::kGelu:
      return x * std::erfc(-x / std::sqrt(2.0L)) / 2;
    case ActivationFunction::kGeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0L)) * (x + 0.044715L * x * x * x)));
    case ActivationFunction::kRelu:
      return x > 0 ? x : 0;
    case ActivationFunction::kTanh:
      return std::tanh(x);
    case ActivationFunction::kSilu:
      return x * logistic(x);
    case ActivationFunction::kSigmoid:
      return logistic(x);
    case ActivationFunction::kQuickGelu:
      return x * logistic(1.702L * x);
  }
  return 0;
}

long double reference_slope(ActivationFunction f, long double x) {
  if (f == ActivationFunction::kRelu) return x > 0 ? 1 : 0;
  const long double h = 1e-5L;
  return (reference(f, x - 2 * h) - 8 * reference(f, x - h) + 8 * reference(f, x + h) -
          reference(f, x + 2 * h)) /
         (12 * h);
}

// Dense around zero, and out to where every function is flat or straight.
std::vector<float> points() {
  std::vector<float> x;
  for (int i = -6000; i <= 6000; ++i) x.push_back(static_cast<float>(i) / 500 + 1e-4f);
  for (int i = -300; i <= 300; ++i) x.push_back(static_cast<float>(i) / 3);
  for (float small = 1; small > 1e-30f; small /= 3) {
    x.push_back(small);
    x.push_back(-small);
  }
  return x;
}

TEST(Activate, IsWithin3e7OfTheDefinition) {
  const std::vector<float> x = points();
  for_every_target([&] {
    for (const ActivationFunction f : kActivations) {
      std::vector<float> y(x.size()), slope(x.size());
      activate(f, x.data(), y.data(), slope.data(), x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        const double expected = static_cast<double>(reference(f, x[i]));
        const double allowed = 3e-7 * std::max(1.0, std::abs(expected));
        ASSERT_NEAR(y[i], expected, allowed) << static_cast<int>(f) << " at " << x[i];
        const double expected_slope = static_cast<double>(reference_slope(f, x[i]));
        ASSERT_NEAR(slope[i], expected_slope, 3e-7) << static_cast<int>(f) << "' at " << x[i];
      }
    }
  });
}

TEST(Activate, TanhAndSigmoidAreWithin2e7RelativeOfTheDefinition) {
  const std::vector<float> x = points();
  for_every_target([&] {
    for (const ActivationFunction f : {ActivationFunction::kTanh, ActivationFunction::kSigmoid}) {
      std::vector<float> y(x.size());
      activate(f, x.data(), y.data(), nullptr, x.size());
      for (size_t i = 0; i < x.size(); ++i) {
        const double expected = static_cast<double>(reference(f, x[i]));
        if (std::abs(expected) < std::numeric_limits<float>::min()) continue;
        ASSERT_NEAR(y[i], expected, 2e-7 * std::abs(expected))
            << static_cast<int>(f) << ": " << x[i];
      }
    }
  });
}

TEST(Activate, InDoubleEqualsTheDefinition) {
  for (const ActivationFunction f : kActivations) {
    for (const double x : {-30.0, -3.0, -0.5, 0.25, 1.0, 4.0, 30.0}) {
      double y = 0, slope = 0;
      activate(f, &x, &y, &slope, 1);
      EXPECT_NEAR(y, static_cast<double>(reference(f, x)), 1e-14 * std::max(1.0, std::abs(x)));
      EXPECT_NEAR(slope, static_cast<double>(reference_slope(f, x)), 1e-11);
      activate(f, &x, &y, static_cast<double*>(nullptr), 1);
    }
  }
}

TEST(Activate, FarOutIsFlatOrStraight) {
  for_every_target([] {
    for (const float far : {100.0f, 3e19f, std::numeric_limits<float>::max()}) {
      const std::vector<float> x = {far, -far};
      for (const ActivationFunction f : kActivations) {
        const bool saturates = f == ActivationFunction::kTanh || f == ActivationFunction::kSigmoid;
        std::vector<float> y(2), slope(2);
        activate(f, x.data(), y.data(), slope.data(), 2);
        EXPECT_EQ(y[0], saturates ? 1 : far) << static_cast<int>(f);
        EXPECT_NEAR(y[1], f == ActivationFunction::kTanh ? -1 : 0, 1e-30) << static_cast<int>(f);
        EXPECT_NEAR(slope[0], saturates ? 0 : 1, 1e-30) << static_cast<int>(f);
        EXPECT_NEAR(slope[1], 0, 1e-30) << static_cast<int>(f);
      }
    }
  });
}

TEST(Activate, NanPassesThroughAndLeavesItsNeighboursAlone) {
  for_every_target([] {
    for (const ActivationFunction f : kActivations) {
      std::vector<float> x(21, 0.5f), y(21);
      x[3] = x[20] = kNan;
      activate(f, x.data(), y.data(), nullptr, x.size());
      for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(std::isnan(y[i]), std::isnan(x[i]));
    }
  });
}

TEST(Activate, AnElementDependsOnlyOnItselfAndMayBeReplacedInPlace) {
  for_every_target([] {
    for (const ActivationFunction f : kActivations) {
      for (const int64_t count : {0, 1, 3, 7, 8, 15, 17, 33}) {
        std::vector<float> x(count), single(count), single_slope(count), slope(count);
        for (int64_t i = 0; i < count; ++i) x[i] = 0.37f * static_cast<float>(i) - 3;
        for (int64_t i = 0; i < count; ++i) activate(f, &x[i], &single[i], &single_slope[i], 1);
        std::vector<float> values = x;
        activate(f, values.data(), values.data(), slope.data(), count);
        EXPECT_EQ(values, single);
        EXPECT_EQ(slope, single_slope);
      }
    }
  });
}

TEST(AddAndMultiply, EqualTheOperatorsElementByElement) {
  for_every_target([] {
    for (const int64_t count : {0, 1, 5, 8, 16, 31, 100}) {
      std::vector<float> a(count), b(count), sum(count), product(count);
      for (int64_t i = 0; i < count; ++i) {
        a[i] = 1.5f * static_cast<float>(i) - 7;
        b[i] = 3 - 0.3f * static_cast<float>(i);
      }
      if (count > 3) a[3] = kFloatInfinity;
      add(a.data(), b.data(), sum.data(), count);
      multiply(a.data(), b.data(), product.data(), count);
      for (int64_t i = 0; i < count; ++i) {
        EXPECT_EQ(sum[i], a[i] + b[i]);
        EXPECT_EQ(product[i], a[i] * b[i]);
      }
    }
  });
  const double a = 2, b = 3;
  double out = 0;
  add(&a, &b, &out, 1);
  EXPECT_EQ(out, 5);
  multiply(&a, &b, &out, 1);
  EXPECT_EQ(out, 6);
}

}  // namespace
}  // namespace whyformer
