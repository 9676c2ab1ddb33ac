#include "studies/concepts/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace whyformer {
namespace {

// The continued fraction of the incomplete beta function (Abramowitz & Stegun 26.5.8) by Lentz's
// method; it converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int m = 1; m < 10000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    fraction *= d * c;
    if (std::abs(d * c - 1) < 1e-16) break;
  }
  return fraction;
}

}  // namespace

double incomplete_beta(double x, double a, double b) {
  if (std::isnan(x)) return x;
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double mean_of(std::span<const double> sample) {
  return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

double deviation_of(std::span<const double> sample) {
  if (sample.size() < 2) return 0;
  // The mean of equal numbers may be off in its last digit, and they would seem to vary.
  if (std::all_of(sample.begin(), sample.end(), [&](double x) { return x == sample[0]; })) return 0;
  const double mean = mean_of(sample);
  double squares = 0;
  for (const double x : sample) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / static_cast<double>(sample.size() - 1));
}

std::optional<TTest> t_test(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const auto na = static_cast<double>(a.size()), nb = static_cast<double>(b.size());
  const double va = deviation_of(a) * deviation_of(a), vb = deviation_of(b) * deviation_of(b);
  TTest test{.freedom = na + nb - 2};
  const double pooled = ((na - 1) * va + (nb - 1) * vb) / test.freedom;
  if (!(pooled > 0)) return std::nullopt;
  test.t = (mean_of(a) - mean_of(b)) / std::sqrt(pooled * (1 / na + 1 / nb));
  test.p = incomplete_beta(test.freedom / (test.freedom + test.t * test.t), test.freedom / 2, 0.5);
  return test;
}

double coin_tail(int64_t hits, int64_t tries) {
  if (hits <= 0) return 1;
  if (hits > tries) return 0;
  // Σ over k ≥ hits of the binomial is I_½(hits, tries − hits + 1).
  return incomplete_beta(0.5, static_cast<double>(hits), static_cast<double>(tries - hits + 1));
}

double binomial_tail(int64_t hits, int64_t tries, double probability) {
  if (hits <= 0) return 1;
  if (hits > tries || probability <= 0) return 0;
  if (probability >= 1) return 1;
  return incomplete_beta(probability, static_cast<double>(hits),
                         static_cast<double>(tries - hits + 1));
}

BinomialInterval binomial_interval(int64_t hits, int64_t tries, double confidence) {
  const double outside = (1 - confidence) / 2;
  // Where a tail of growing probability reaches `wanted`.
  const auto where = [&](int64_t at_least, double wanted) {
    double low = 0, high = 1;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (binomial_tail(at_least, tries, middle) < wanted ? low : high) = middle;
    }
    return (low + high) / 2;
  };
  return {hits == 0 ? 0 : where(hits, outside), hits == tries ? 1 : where(hits + 1, 1 - outside)};
}

double permutation_p(double observed, std::span<const double> drawn) {
  int64_t far = 1;
  // Equal statistics may differ in their last digits, and count.
  for (const double draw : drawn) far += draw >= observed - 1e-12 * std::abs(observed);
  return static_cast<double>(far) / static_cast<double>(drawn.size() + 1);
}

std::vector<double> bonferroni(std::span<const double> p) {
  std::vector<double> corrected;
  for (const double one : p)
    corrected.push_back(std::min(1.0, one * static_cast<double>(p.size())));
  return corrected;
}

std::vector<double> benjamini_hochberg(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p[i] < p[j]; });
  std::vector<double> corrected(p.size());
  double least = 1;
  for (size_t rank = p.size(); rank-- > 0;) {
    const double scaled =
        p[order[rank]] * static_cast<double>(p.size()) / static_cast<double>(rank + 1);
    least = std::min(least, scaled);
    corrected[order[rank]] = least;
  }
  return corrected;
}

}  // namespace whyformer
