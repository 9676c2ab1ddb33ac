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

// The places of units in a ranking: tied units share theirs.
class SharedPlaces {
 public:
  SharedPlaces(std::span<const double> scores, int64_t most) : order_(descending_order(scores)) {
    const int64_t scored = std::count_if(scores.begin(), scores.end(),
                                         [](double score) { return !std::isnan(score); });
    if (most < 1 || most > scored) {
      throw InvalidInput(
          fmt::format("Overlap of the top k: k is {}, but it must be at least 1 and at "
                      "most the {} units that have a score",
                      most, scored));
    }
    ties_.resize(scores.size());
    for (size_t begin = 0, end = 0; begin < order_.size(); begin = end) {
      end = begin + 1;
      while (end < order_.size() && scores[order_[end]] == scores[order_[begin]]) ++end;
      for (size_t i = begin; i < end; ++i)
        ties_[order_[i]] = {.begin = static_cast<int64_t>(begin), .end = static_cast<int64_t>(end)};
      tied_ |= end > begin + 1;
    }
  }

  bool tied() const { return tied_; }
  // How much of a unit is among the first k: 1 or 0, or its part of the places that are left where
  // its ties reach beyond them.
  double share(int64_t unit, int64_t k) const {
    const auto& [begin, end] = ties_[static_cast<size_t>(unit)];
    return std::clamp(static_cast<double>(k - begin) / static_cast<double>(end - begin), 0.0, 1.0);
  }
  // Units of which some part is among the first k.
  std::span<const int64_t> first(int64_t k) const {
    const int64_t last = order_[static_cast<size_t>(k) - 1];
    return std::span(order_).first(static_cast<size_t>(ties_[static_cast<size_t>(last)].end));
  }
  std::span<const int64_t> list(int64_t k) const {
    return std::span(order_).first(static_cast<size_t>(k));
  }

 private:
  struct Tie {
    int64_t begin = 0, end = 0;  // places
  };
  std::vector<int64_t> order_;
  std::vector<Tie> ties_;  // of each unit
  bool tied_ = false;
};

int sign_of(double score) { return (score > 0) - (score < 0); }

double share(double part, int64_t whole) { return part / static_cast<double>(whole); }

template <class Counts>
double shared_by_both(const SharedPlaces& a, const SharedPlaces& b, int64_t k,
                      const Counts& counts) {
  double common = 0;
  for (const int64_t unit : a.first(k)) {
    if (counts(static_cast<size_t>(unit))) common += std::min(a.share(unit, k), b.share(unit, k));
  }
  return common;
}

constexpr auto kEveryUnit = [](size_t) { return true; };

// A_1, A_2, … weighted as rank-biased overlap weighs them. The agreement of the last rank is taken
// to go on below it.
template <class Agreement>
double rank_biased(int64_t depth, double persistence, const Agreement& agreement) {
  if (!(persistence > 0 && persistence < 1)) {
    throw InvalidInput(fmt::format(
        "Rank-biased overlap: the persistence is {}, but it must be between 0 and 1", persistence));
  }
  // The weights add up to 1. Dividing by their sum makes the extremes exact.
  double weighted = 0, weights = 0, remaining = 1;
  for (int64_t d = 1; d <= depth; ++d) {
    const double weight = d == depth ? remaining : (1 - persistence) * remaining;
    weighted += weight * agreement(d);
    weights += weight;
    remaining *= persistence;
  }
  return weighted / weights;
}

}  // namespace

double top_k_overlap(std::span<const double> a, std::span<const double> b, int64_t k) {
  require_equal_length("Overlap of the top k", a.size(), b.size());
  return share(shared_by_both(SharedPlaces(a, k), SharedPlaces(b, k), k, kEveryUnit), k);
}

double signed_top_k_overlap(std::span<const double> a, std::span<const double> b, int64_t k) {
  require_equal_length("Overlap of the top k with signs", a.size(), b.size());
  const SharedPlaces places_a(magnitudes_of(a), k), places_b(magnitudes_of(b), k);
  const auto same_sign = [&](size_t unit) { return sign_of(a[unit]) == sign_of(b[unit]); };
  return share(shared_by_both(places_a, places_b, k, same_sign), k);
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
  return share(static_cast<double>(agreeing), static_cast<int64_t>(a.size()));
}

double rank_biased_overlap_of_lists(std::span<const int64_t> a, std::span<const int64_t> b,
                                    double persistence) {
  require_equal_length("Rank-biased overlap", a.size(), b.size());
  if (a.empty()) throw InvalidInput("Rank-biased overlap: the lists are empty");
  std::unordered_set<int64_t> seen_a, seen_b;
  int64_t common = 0;
  return rank_biased(static_cast<int64_t>(a.size()), persistence, [&](int64_t depth) {
    const auto i = static_cast<size_t>(depth) - 1;
    if (!seen_a.insert(a[i]).second || !seen_b.insert(b[i]).second) {
      throw InvalidInput("Rank-biased overlap: a list names an item twice");
    }
    common += seen_b.contains(a[i]);
    common += a[i] != b[i] && seen_a.contains(b[i]);
    return share(static_cast<double>(common), depth);
  });
}

double rank_biased_overlap(std::span<const double> a, std::span<const double> b, double persistence,
                           std::optional<int64_t> depth) {
  require_equal_length("Rank-biased overlap", a.size(), b.size());
  const int64_t k = depth.value_or(static_cast<int64_t>(a.size()));
  const SharedPlaces places_a(a, k), places_b(b, k);
  if (!places_a.tied() && !places_b.tied())
    return rank_biased_overlap_of_lists(places_a.list(k), places_b.list(k), persistence);
  return rank_biased(k, persistence, [&](int64_t d) {
    return share(shared_by_both(places_a, places_b, d, kEveryUnit), d);
  });
}

}  // namespace whyformer
