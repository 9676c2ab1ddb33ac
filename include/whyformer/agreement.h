// How far two explanations agree. Both sides score the same units, in the same order.
// Every function throws InvalidInput where the sides differ in length.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace whyformer {

// Pearson's correlation. Nothing where a side is constant or has fewer than two units, or where a
// score is not finite.
std::optional<double> pearson(std::span<const double> a, std::span<const double> b);

struct Correlation {
  double value = 0;
  // Two-sided, of no association. Spearman's test has no degree of freedom left with two units, so
  // there is none then.
  std::optional<double> p_value = std::nullopt;
};

// Nothing where a side is constant or has fewer than two units, or where a score is not a number.
// Infinite scores have a rank like any other.

// Pearson's correlation of the average ranks; p from Student's t with n - 2 degrees of freedom.
std::optional<Correlation> spearman(std::span<const double> a, std::span<const double> b);

// (C - D) / √((n₀ - ties of a)(n₀ - ties of b)) with C concordant and D discordant pairs of n₀.
// p as SciPy chooses it: exact without ties for n ≤ 33, or where at most one pair is out of order;
// else from the normal distribution of C - D, with Kendall's variance under ties.
std::optional<Correlation> kendall_tau_b(std::span<const double> a, std::span<const double> b);

// The top k are the k highest scores. Units that tie around place k share the places that are left,
// so that a unit is in the top k by a share between 0 and 1, and in both by the smaller share: the
// order in which units are listed says nothing. Where one side has no such tie, this is the mean
// over the orders that the other side leaves open; scores that are all alike reach k / units, which
// is chance, and 1 with each other. Throws InvalidInput unless k is at least 1 and both sides have
// k scores that are numbers.

// |A ∩ B| / k.
double top_k_overlap(std::span<const double> a, std::span<const double> b, int64_t k);

// Sign agreement of Krishna et al., "The Disagreement Problem in Explainable Machine Learning"
// (TMLR 2024): the share of k that are in both top k with the same sign. Their top k are the k
// largest magnitudes, since among the highest scores nearly all are positive.
double signed_top_k_overlap(std::span<const double> a, std::span<const double> b, int64_t k);

// Share of all units with the same sign. Zero is a sign of its own: it agrees with zero only.
// Throws InvalidInput where there are no units or a score is not a number.
double sign_agreement(std::span<const double> a, std::span<const double> b);

// Rank-biased overlap, extrapolated (Webber, Moffat & Zobel, TOIS 2010, eq. 32 for lists of one
// length): RBO = A_k p^k + (1 - p)/p Σ_d A_d p^d, with A_d = |top d of a ∩ top d of b| / d.
// `persistence` is p in (0, 1): the first 10 ranks carry 86 % of the weight with 0.9.
// Identical lists give exactly 1, disjoint ones exactly 0.
double rank_biased_overlap_of_lists(std::span<const int64_t> a, std::span<const int64_t> b,
                                    double persistence);

// Of the rankings by score, down to `depth` (all units unless given), with A_d the overlap of the
// top d of both as above.
double rank_biased_overlap(std::span<const double> a, std::span<const double> b, double persistence,
                           std::optional<int64_t> depth = std::nullopt);

// A value over examples with the limits that resampling the examples gives.
struct Interval {
  double value = 0;  // of the examples as they are, such as their mean
  double low = 0;
  double high = 0;
  int64_t examples = 0;
};

}  // namespace whyformer
