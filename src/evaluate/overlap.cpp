#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "evaluate/magnitudes.h"
#include "evaluate/ranks.h"
#include "whyformer/agreement.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

std::vector<int64_t> top_units(std::span<const double> scores, int64_t k) {
  const int64_t scored =
      std::count_if(scores.begin(), scores.end(), [](double score) { return !std::isnan(score); });
  if (k < 1 || k > scored) {
    throw InvalidInput(
        fmt::format("Overlap of the top k: k is {}, but it must be at least 1 and at "
                    "most the {} units that have a score",
                    k, scored));
  }
  std::vector<int64_t> order = descending_order(scores);
  order.resize(static_cast<size_t>(k));
  return order;
}

int sign_of(double score) { return (score > 0) - (score < 0); }

int64_t units_in_both(std::span<const double> a, std::span<const double> b, int64_t k) {
  require_equal_length("Overlap of the top k", a.size(), b.size());
  const std::vector<int64_t> top_a = top_units(a, k), top_b = top_units(b, k);
  const std::unordered_set<int64_t> of_b(top_b.begin(), top_b.end());
  return std::count_if(top_a.begin(), top_a.end(),
                       [&](int64_t unit) { return of_b.contains(unit); });
}

double share(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double top_k_overlap(std::span<const double> a, std::span<const double> b, int64_t k) {
  return share(units_in_both(a, b, k), k);
}

double signed_top_k_overlap(std::span<const double> a, std::span<const double> b, int64_t k) {
  require_equal_length("Overlap of the top k with signs", a.size(), b.size());
  const std::vector<int64_t> top_a = top_units(magnitudes_of(a), k);
  const std::vector<int64_t> top_b = top_units(magnitudes_of(b), k);
  const std::unordered_set<int64_t> of_b(top_b.begin(), top_b.end());
  const auto agrees = [&](int64_t unit) {
    const auto i = static_cast<size_t>(unit);
    return of_b.contains(unit) && sign_of(a[i]) == sign_of(b[i]);
  };
  return share(std::count_if(top_a.begin(), top_a.end(), agrees), k);
}

double sign_agreement(std::span<const double> a, std::span<const double> b) {
  require_equal_length("Sign agreement", a.size(), b.size());
  if (a.empty() || any_not_a_number(a) || any_not_a_number(b)) {
    throw InvalidInput(
        "Sign agreement: every unit needs a score on both sides, and there must be "
        "at least one unit");
  }
  int64_t agreeing = 0;
  for (size_t i = 0; i < a.size(); ++i) agreeing += sign_of(a[i]) == sign_of(b[i]);
  return share(agreeing, static_cast<int64_t>(a.size()));
}

double rank_biased_overlap_of_lists(std::span<const int64_t> a, std::span<const int64_t> b,
                                    double persistence) {
  require_equal_length("Rank-biased overlap", a.size(), b.size());
  if (a.empty()) throw InvalidInput("Rank-biased overlap: the lists are empty");
  if (!(persistence > 0 && persistence < 1)) {
    throw InvalidInput(fmt::format(
        "Rank-biased overlap: the persistence is {}, but it must be between 0 and 1", persistence));
  }
  std::unordered_set<int64_t> seen_a, seen_b;
  int64_t common = 0;
  // The weights add up to 1. Dividing by their sum makes the extremes exact.
  double weighted = 0, weights = 0, remaining = 1;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!seen_a.insert(a[i]).second || !seen_b.insert(b[i]).second) {
      throw InvalidInput("Rank-biased overlap: a list names an item twice");
    }
    common += seen_b.contains(a[i]);
    common += a[i] != b[i] && seen_a.contains(b[i]);
    // The agreement of the last rank is taken to go on below it.
    const double weight = i + 1 == a.size() ? remaining : (1 - persistence) * remaining;
    weighted += weight * share(common, static_cast<int64_t>(i + 1));
    weights += weight;
    remaining *= persistence;
  }
  return weighted / weights;
}

double rank_biased_overlap(std::span<const double> a, std::span<const double> b, double persistence,
                           std::optional<int64_t> depth) {
  require_equal_length("Rank-biased overlap", a.size(), b.size());
  const int64_t k = depth.value_or(static_cast<int64_t>(a.size()));
  return rank_biased_overlap_of_lists(top_units(a, k), top_units(b, k), persistence);
}

}  // namespace whyformer
