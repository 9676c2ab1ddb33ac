#include "evaluate/segments.h"

#include <algorithm>
#include <numeric>

#include "evaluate/magnitudes.h"

namespace whyformer {

std::vector<bool> above_mean(std::span<const double> scores) {
  const std::vector<double> near_one = scaled_near_one(scores);
  const double mean =
      std::accumulate(near_one.begin(), near_one.end(), 0.0) / static_cast<double>(scores.size());
  std::vector<bool> inside;
  inside.reserve(scores.size());
  for (const double score : near_one) inside.push_back(score > mean);
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

size_t count_cells(const std::vector<bool>& segment) {
  return static_cast<size_t>(std::count(segment.begin(), segment.end(), true));
}

size_t cells_in_both(const std::vector<bool>& a, const std::vector<bool>& b) {
  size_t both = 0;
  for (size_t i = 0; i < a.size(); ++i) both += a[i] && b[i] ? 1 : 0;
  return both;
}

std::vector<CellRun> runs_of(const std::vector<bool>& segment) {
  std::vector<CellRun> runs;
  for (size_t i = 0; i < segment.size(); ++i) {
    if (!segment[i]) continue;
    const auto cell = static_cast<int64_t>(i);
    if (i > 0 && segment[i - 1]) {
      runs.back().end = cell + 1;
    } else {
      runs.push_back({cell, cell + 1});
    }
  }
  return runs;
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
