#include "tests/support/uniformity.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace whyformer {
namespace {

// A matrix times 2^exponent: the powers leave the range of a double.
struct ScaledMatrix {
  int64_t size = 0;
  std::vector<double> values;
  int exponent = 0;

  double at(int64_t row, int64_t column) const {
    return values[static_cast<size_t>(row * size + column)];
  }
  double& at(int64_t row, int64_t column) {
    return values[static_cast<size_t>(row * size + column)];
  }
};

ScaledMatrix scaled_product(const ScaledMatrix& a, const ScaledMatrix& b) {
  ScaledMatrix result{a.size, std::vector<double>(a.values.size(), 0.0), a.exponent + b.exponent};
  for (int64_t i = 0; i < a.size; ++i) {
    for (int64_t k = 0; k < a.size; ++k) {
      for (int64_t j = 0; j < a.size; ++j) result.at(i, j) += a.at(i, k) * b.at(k, j);
    }
  }
  const int exponent = std::ilogb(*std::max_element(result.values.begin(), result.values.end()));
  for (double& value : result.values) value = std::ldexp(value, -exponent);
  result.exponent += exponent;
  return result;
}

// The matrix H of Marsaglia, Tsang & Wang for n · statistic = k - h.
ScaledMatrix matrix_h(int64_t k, double h) {
  const int64_t size = 2 * k - 1;
  ScaledMatrix result{size, std::vector<double>(static_cast<size_t>(size * size), 0.0), 0};
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) result.at(i, j) = i - j + 1 >= 0;
  }
  for (int64_t i = 0; i < size; ++i) {
    result.at(i, 0) -= std::pow(h, i + 1);
    result.at(size - 1, i) -= std::pow(h, size - i);
  }
  result.at(size - 1, 0) += 2 * h - 1 > 0 ? std::pow(2 * h - 1, size) : 0;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j <= i; ++j) result.at(i, j) /= std::tgamma(i - j + 2);
  }
  return result;
}

// P(D⁺ ≥ statistic), the one-sided test of Smirnov, summed in logarithms.
double one_sided_p_value(double n, double statistic) {
  double sum = std::pow(1 - statistic, n);
  for (double j = 1; j < n * (1 - statistic); ++j) {
    const double log_choices = std::lgamma(n + 1) - std::lgamma(j + 1) - std::lgamma(n - j + 1);
    sum += statistic * std::exp(log_choices + (n - j) * std::log1p(-statistic - j / n) +
                                (j - 1) * std::log(statistic + j / n));
  }
  return sum;
}

// P(D ≥ statistic). Marsaglia, Tsang & Wang, "Evaluating Kolmogorov's distribution", Journal of
// Statistical Software 8(18), 2003: P(D < statistic) is n!/n^n times the middle element of H^n.
double two_sided_p_value(int64_t n, double statistic) {
  // Both sides are that far out in fewer than 1 in 10^13 samples.
  if (static_cast<double>(n) * statistic * statistic > 3.76) {
    return 2 * one_sided_p_value(static_cast<double>(n), statistic);
  }
  if (static_cast<double>(n) * statistic <= 0.5) return 1;  // it cannot be smaller
  const auto k = static_cast<int64_t>(static_cast<double>(n) * statistic) + 1;
  ScaledMatrix factor = matrix_h(k, static_cast<double>(k) - static_cast<double>(n) * statistic);
  ScaledMatrix power = factor;
  for (int64_t left = n - 1; left > 0; left /= 2) {
    if (left % 2 == 1) power = scaled_product(power, factor);
    factor = scaled_product(factor, factor);
  }
  double chance = power.at(k - 1, k - 1);
  for (int64_t i = 1; i <= n; ++i) {
    chance *= static_cast<double>(i) / static_cast<double>(n);
    const int exponent = std::ilogb(chance);
    chance = std::ldexp(chance, -exponent);
    power.exponent += exponent;
  }
  return 1 - std::ldexp(chance, power.exponent);
}

}  // namespace

UniformityTest uniformity(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double statistic = 0;
  for (size_t i = 0; i < sample.size(); ++i) {
    statistic = std::max({statistic, static_cast<double>(i + 1) / n - sample[i],
                          sample[i] - static_cast<double>(i) / n});
  }
  return {statistic, two_sided_p_value(static_cast<int64_t>(sample.size()), statistic)};
}

}  // namespace whyformer
