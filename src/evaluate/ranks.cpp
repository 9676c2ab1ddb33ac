#include "evaluate/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "whyformer/error.h"

namespace whyformer {

bool any_not_a_number(std::span<const double> scores) {
  return std::any_of(scores.begin(), scores.end(), [](double score) { return std::isnan(score); });
}

void require_equal_length(std::string_view what, size_t a, size_t b) {
  if (a == b) return;
  throw InvalidInput(fmt::format(
      "{}: one side has {} values, the other {}; both need one for each unit or example", what, a,
      b));
}

std::vector<double> average_ranks(std::span<const double> scores) {
  if (any_not_a_number(scores)) {
    throw InvalidInput("Ranks: a score is not a number; leave out units without a score");
  }
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return scores[i] < scores[j]; });
  std::vector<double> ranks(scores.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && scores[order[end]] == scores[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + 1 + end) / 2;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
  }
  return ranks;
}

std::vector<int64_t> descending_order(std::span<const double> scores) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
    const double first = scores[static_cast<size_t>(i)], second = scores[static_cast<size_t>(j)];
    if (std::isnan(first) || std::isnan(second)) return !std::isnan(first) && std::isnan(second);
    return first > second;
  });
  return order;
}

}  // namespace whyformer
