// Nested groups of units along a ranking: the first k hidden, or all others. Comprehensiveness,
// deletion and perturbation read the same path; sufficiency and insertion its complement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evaluate/hidden_answers.h"

namespace whyformer {

// Players from the highest score to the lowest; see descending_order.
using Ranking = std::vector<int64_t>;

// The first `count` of the ranking are hidden.
HiddenAnswers::Hidden hide_first(const Ranking& ranking, int64_t count);
// All but the first `count` are.
HiddenAnswers::Hidden hide_rest(const Ranking& ranking, int64_t count);

// How many units the shares 1, 5, 10, 20 and 50 % are (DeYoung et al., ACL 2020): at least one,
// halves to the even number. Short inputs repeat a number, which then counts as often.
std::vector<int64_t> eraser_sizes(int64_t players);

// Mean drop of the answer over groups of these sizes, when they are hidden and when only they stay.
double mean_drop_without(const Ranking& ranking, std::span<const int64_t> sizes,
                         HiddenAnswers& answers);
double mean_drop_with_only(const Ranking& ranking, std::span<const int64_t> sizes,
                           HiddenAnswers& answers);

// Sizes from 0 to all, one by one; in steps where there are more than 256 units.
std::vector<int64_t> path_sizes(int64_t players);

// The answer along the path that `hide` makes of the ranking, as an area over the path from 0 to 1.
using Hide = HiddenAnswers::Hidden (*)(const Ranking& ranking, int64_t count);
double path_area(const Ranking& ranking, HiddenAnswers& answers, Hide hide);

// Whether the model's label stays while the first 0, 10, …, 90 % of the ranking are
// hidden (⌊share · units⌋ of them): the area over those shares, so at most 0.9. Nothing where the
// model gives no labels.
std::optional<double> kept_label_area(const Ranking& ranking, HiddenAnswers& answers);

// The same while the first 1, 3, …, 99 % are hidden (⌊share · units⌋), as a mean (Rong et al., ICML
// 2022).
std::optional<double> kept_label_share(const Ranking& ranking, HiddenAnswers& answers);

// One player hidden.
HiddenAnswers::Hidden only_hidden(int64_t players, int64_t player);

// The area under values at these x, by the trapezoid rule.
double area_under(std::span<const double> x, std::span<const double> values);

// A ranking drawn from all of them with equal probability, the same for all methods.
Ranking random_ranking(int64_t players, int64_t seed, int64_t number);
// A subset of this size, likewise.
HiddenAnswers::Hidden random_subset(int64_t players, int64_t size, int64_t seed, int64_t number);

}  // namespace whyformer
