#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "evaluate/magnitudes.h"
#include "evaluate/ranks.h"
#include "studies/concepts/statistics.h"
#include "whyformer/agreement.h"

namespace whyformer {
namespace {

bool is_constant(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double x) { return x == values[0]; });
}

// By a power of two, which rounds nothing, to a largest magnitude in [1, 2).
void scale_to_one(std::vector<double>& values) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  const int exponent = std::ilogb(largest);
  for (double& x : values) x = std::ldexp(x, -exponent);
}

// Differences from the mean, scaled so that no sum or square overflows. The values must differ.
std::vector<double> centred(std::span<const double> values) {
  std::vector<double> result(values.begin(), values.end());
  scale_to_one(result);
  const double mean = mean_of(result);
  for (double& x : result) x -= mean;
  scale_to_one(result);
  return result;
}

// How often the values of one side tie, over the sizes t of its groups of equal values.
struct Ties {
  int64_t pairs = 0;    // Σ t(t - 1)/2
  double triples = 0;   // Σ t(t - 1)(t - 2)
  double variance = 0;  // Σ t(t - 1)(2t + 5)
  void add(int64_t size) {
    const auto t = static_cast<double>(size);
    pairs += size * (size - 1) / 2;
    triples += t * (t - 1) * (t - 2);
    variance += t * (t - 1) * (2 * t + 5);
  }
};

// `same(i)` tells whether element i equals the one before it.
template <typename Same>
Ties ties_of_sorted(size_t count, const Same& same) {
  Ties ties;
  for (size_t begin = 0, end = 0; begin < count; begin = end) {
    end = begin + 1;
    while (end < count && same(end)) ++end;
    ties.add(static_cast<int64_t>(end - begin));
  }
  return ties;
}

// Sorts the values; the number of pairs that were strictly out of order.
int64_t sort_and_count_inversions(std::span<double> values, std::span<double> scratch) {
  if (values.size() < 2) return 0;
  const size_t half = values.size() / 2;
  int64_t inversions = sort_and_count_inversions(values.first(half), scratch.first(half)) +
                       sort_and_count_inversions(values.subspan(half), scratch.subspan(half));
  size_t left = 0, right = half;
  for (double& merged : scratch) {
    if (right == values.size() || (left < half && values[left] <= values[right])) {
      merged = values[left++];
    } else {
      inversions += static_cast<int64_t>(half - left);
      merged = values[right++];
    }
  }
  std::copy(scratch.begin(), scratch.end(), values.begin());
  return inversions;
}

struct PairCounts {
  int64_t items = 0;
  int64_t pairs = 0;
  int64_t discordant = 0;
  int64_t tied_in_both = 0;
  Ties ties_a = {}, ties_b = {};

  int64_t concordant_minus_discordant() const {
    return pairs - ties_a.pairs - ties_b.pairs + tied_in_both - 2 * discordant;
  }
};

PairCounts count_pairs(std::span<const double> a, std::span<const double> b) {
  std::vector<size_t> order(a.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t i, size_t j) { return a[i] != a[j] ? a[i] < a[j] : b[i] < b[j]; });
  const auto same_a = [&](size_t i) { return a[order[i]] == a[order[i - 1]]; };
  const auto same_b = [&](size_t i) { return b[order[i]] == b[order[i - 1]]; };
  const auto items = static_cast<int64_t>(a.size());
  PairCounts counts{.items = items, .pairs = items * (items - 1) / 2};
  counts.ties_a = ties_of_sorted(a.size(), same_a);
  counts.tied_in_both =
      ties_of_sorted(a.size(), [&](size_t i) { return same_a(i) && same_b(i); }).pairs;
  std::vector<double> of_b, scratch(b.size());
  for (const size_t i : order) of_b.push_back(b[i]);
  counts.discordant = sort_and_count_inversions(of_b, scratch);
  counts.ties_b = ties_of_sorted(b.size(), [&](size_t i) { return of_b[i] == of_b[i - 1]; });
  return counts;
}

// The chance that a random permutation has at most so many inversions.
double chance_of_few_inversions(int64_t items, int64_t inversions) {
  std::vector<double> chance(static_cast<size_t>(inversions + 1), 0.0);
  chance[0] = 1;
  for (int64_t length = 2; length <= items; ++length) {
    // The item that is put in last adds 0 … length - 1 inversions, all equally likely.
    for (int64_t total = inversions; total >= 0; --total) {
      const auto last = chance.begin() + total + 1;
      const auto first = last - std::min(length, total + 1);
      chance[static_cast<size_t>(total)] =
          std::accumulate(first, last, 0.0) / static_cast<double>(length);
    }
  }
  return std::accumulate(chance.begin(), chance.end(), 0.0);
}

// Kendall, "Rank Correlation Methods" (1970), chapter 4, in the form that SciPy has.
double normal_p_value(const PairCounts& counts) {
  const auto n = static_cast<double>(counts.items);
  const double m = n * (n - 1);
  const double variance =
      (m * (2 * n + 5) - counts.ties_a.variance - counts.ties_b.variance) / 18 +
      2 * static_cast<double>(counts.ties_a.pairs) * static_cast<double>(counts.ties_b.pairs) / m +
      counts.ties_a.triples * counts.ties_b.triples / (9 * m * (n - 2));
  const double z = static_cast<double>(counts.concordant_minus_discordant()) / std::sqrt(variance);
  return std::erfc(std::abs(z) / std::numbers::sqrt2);
}

double kendall_p_value(const PairCounts& counts) {
  const int64_t out_of_order = std::min(counts.discordant, counts.pairs - counts.discordant);
  const bool tied = counts.ties_a.pairs > 0 || counts.ties_b.pairs > 0;
  if (tied || (counts.items > 33 && out_of_order > 1)) return normal_p_value(counts);
  return std::min(1.0, 2 * chance_of_few_inversions(counts.items, out_of_order));
}

}  // namespace

std::optional<double> pearson(std::span<const double> a, std::span<const double> b) {
  require_equal_length("Pearson's correlation", a.size(), b.size());
  if (a.size() < 2 || is_constant(a) || is_constant(b)) return std::nullopt;
  if (!all_finite(a) || !all_finite(b)) return std::nullopt;
  const std::vector<double> x = centred(a), y = centred(b);
  const double xy = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
  const double xx = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
  const double yy = std::inner_product(y.begin(), y.end(), y.begin(), 0.0);
  return std::clamp(xy / std::sqrt(xx * yy), -1.0, 1.0);
}

std::optional<Correlation> spearman(std::span<const double> a, std::span<const double> b) {
  require_equal_length("Spearman's correlation", a.size(), b.size());
  if (any_not_a_number(a) || any_not_a_number(b)) return std::nullopt;
  const std::optional<double> value = pearson(average_ranks(a), average_ranks(b));
  if (!value) return std::nullopt;
  if (a.size() == 2) return Correlation{.value = *value};
  // t² = r² f / (1 - r²), so that f / (f + t²), which the t distribution takes, is 1 - r².
  const double freedom = static_cast<double>(a.size()) - 2;
  const double unexplained = (1 - *value) * (1 + *value);
  return Correlation{*value, incomplete_beta(unexplained, freedom / 2, 0.5)};
}

std::optional<Correlation> kendall_tau_b(std::span<const double> a, std::span<const double> b) {
  require_equal_length("Kendall's tau", a.size(), b.size());
  if (any_not_a_number(a) || any_not_a_number(b)) return std::nullopt;
  const PairCounts counts = count_pairs(a, b);
  const int64_t untied_a = counts.pairs - counts.ties_a.pairs;
  const int64_t untied_b = counts.pairs - counts.ties_b.pairs;
  if (untied_a == 0 || untied_b == 0) return std::nullopt;
  const double scale = std::sqrt(static_cast<double>(untied_a) * static_cast<double>(untied_b));
  const double tau = static_cast<double>(counts.concordant_minus_discordant()) / scale;
  return Correlation{std::clamp(tau, -1.0, 1.0), kendall_p_value(counts)};
}

}  // namespace whyformer
