#include "evaluate/paired_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "evaluate/ranks.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

// Rank sums are multiples of one half under ties, so ranks count double here.
int64_t doubled(double rank) { return std::llround(2 * rank); }

// Over all 2^n equally likely signs of these ranks. Exact: 2^50 fits into a double.
double exact_p_value(std::span<const double> ranks, double positive_sum) {
  int64_t total = 0;
  for (const double rank : ranks) total += doubled(rank);
  std::vector<double> ways(static_cast<size_t>(total + 1), 0.0);
  ways[0] = 1;
  for (const double rank : ranks) {
    for (int64_t sum = total; sum >= doubled(rank); --sum) {
      ways[static_cast<size_t>(sum)] += ways[static_cast<size_t>(sum - doubled(rank))];
    }
  }
  const auto observed = ways.begin() + doubled(positive_sum);
  const double at_most = std::accumulate(ways.begin(), observed + 1, 0.0);
  const double at_least = std::accumulate(observed, ways.end(), 0.0);
  return std::min(1.0, std::ldexp(std::min(at_most, at_least), 1 - static_cast<int>(ranks.size())));
}

// Σ t³ - t over groups of t equal values.
double tie_correction(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double correction = 0;
  for (auto begin = values.begin(); begin != values.end();) {
    const auto end = std::upper_bound(begin, values.end(), *begin);
    const auto t = static_cast<double>(end - begin);
    correction += t * t * t - t;
    begin = end;
  }
  return correction;
}

double approximate_p_value(double pairs, double positive_sum, double ties) {
  const double mean = pairs * (pairs + 1) / 4;
  const double variance = (pairs * (pairs + 1) * (2 * pairs + 1) - ties / 2) / 24;
  return std::erfc(std::abs(positive_sum - mean) / std::sqrt(variance) / std::numbers::sqrt2);
}

}  // namespace

std::optional<SignedRankTest> wilcoxon(std::span<const double> a, std::span<const double> b) {
  require_equal_length("Wilcoxon's signed-rank test", a.size(), b.size());
  std::vector<double> differences, magnitudes;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] - b[i] == 0) continue;
    differences.push_back(a[i] - b[i]);
    magnitudes.push_back(std::abs(a[i] - b[i]));
  }
  if (differences.empty() || any_not_a_number(differences)) return std::nullopt;
  const std::vector<double> ranks = average_ranks(magnitudes);
  double positive = 0, negative = 0;
  for (size_t i = 0; i < ranks.size(); ++i) (differences[i] > 0 ? positive : negative) += ranks[i];
  const double ties = tie_correction(magnitudes);
  const bool plain = ties == 0 && differences.size() == a.size();
  SignedRankTest test{.statistic = std::min(positive, negative),
                      .pairs = static_cast<int64_t>(ranks.size())};
  // SciPy counts the pairs with those that do not differ.
  test.p_value = a.size() <= (plain ? 50u : 13u)
                     ? exact_p_value(ranks, positive)
                     : approximate_p_value(static_cast<double>(ranks.size()), positive, ties);
  return test;
}

std::vector<double> holm(std::span<const double> p_values) {
  for (const double p : p_values) {
    if (!(p >= 0 && p <= 1)) {
      throw InvalidInput(fmt::format("Holm's correction: {} is not a p-value in [0, 1]", p));
    }
  }
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t i, size_t j) { return p_values[i] < p_values[j]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, static_cast<double>(order.size() - i) * p_values[order[i]]);
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

}  // namespace whyformer
