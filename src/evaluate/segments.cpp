#include "evaluate/segments.h"

#include <algorithm>
#include <numeric>

namespace whyformer {

std::vector<bool> above_mean(std::span<const double> scores) {
  const double mean =
      std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
  std::vector<bool> inside;
  inside.reserve(scores.size());
  for (const double score : scores) inside.push_back(score > mean);
  return inside;
}

std::vector<bool> largest_cells(std::span<const double> scores, size_t count) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::vector<bool> inside(scores.size());
  for (size_t i = 0; i < std::min(count, order.size()); ++i) inside[order[i]] = true;
  return inside;
}

Ratio intersection_over_union(const std::vector<bool>& a, const std::vector<bool>& b) {
  Ratio ratio;
  for (size_t i = 0; i < a.size(); ++i) {
    ratio.part += a[i] && b[i];
    ratio.whole += a[i] || b[i];
  }
  return ratio;
}

}  // namespace whyformer
