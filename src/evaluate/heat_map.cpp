#include "evaluate/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int kOtsuLevels = 256;

void expect_size(std::span<const double> map, MapSize from, MapSize to) {
  if (from.rows <= 0 || from.columns <= 0 || to.rows <= 0 || to.columns <= 0) {
    throw InvalidInput(fmt::format("heat map: a map of {} x {} cannot become one of {} x {}",
                                   from.rows, from.columns, to.rows, to.columns));
  }
  if (static_cast<int64_t>(map.size()) / from.columns == from.rows &&
      static_cast<int64_t>(map.size()) % from.columns == 0) {
    return;
  }
  throw InvalidInput(
      fmt::format("heat map: {} scores for {} x {} patches", map.size(), from.rows, from.columns));
}

// Where a pixel stands between two neighbours of one axis.
struct Between {
  int64_t low, high;
  double share;  // of the higher one
};

std::vector<Between> between_neighbours(int64_t from, int64_t to) {
  std::vector<Between> list;
  list.reserve(static_cast<size_t>(to));
  for (int64_t i = 0; i < to; ++i) {
    const double position =
        (static_cast<double>(i) + 0.5) * static_cast<double>(from) / static_cast<double>(to) - 0.5;
    const double inside = std::clamp(position, 0.0, static_cast<double>(from - 1));
    const auto low = static_cast<int64_t>(inside);
    list.push_back({low, std::min(low + 1, from - 1), inside - static_cast<double>(low)});
  }
  return list;
}

// What is not a number counts as 0.
int otsu_level_of(double value) {
  return value > 0 ? static_cast<int>(std::min(value, 1.0) * (kOtsuLevels - 1)) : 0;
}

}  // namespace

std::vector<double> bilinear(std::span<const double> map, MapSize from, MapSize to) {
  expect_size(map, from, to);
  const std::vector<Between> rows = between_neighbours(from.rows, to.rows);
  const std::vector<Between> columns = between_neighbours(from.columns, to.columns);
  std::vector<double> large;
  large.reserve(rows.size() * columns.size());
  for (const Between& y : rows) {
    const double* above = map.data() + y.low * from.columns;
    const double* below = map.data() + y.high * from.columns;
    for (const Between& x : columns) {
      const double top = above[x.low] + (above[x.high] - above[x.low]) * x.share;
      const double bottom = below[x.low] + (below[x.high] - below[x.low]) * x.share;
      large.push_back(top + (bottom - top) * y.share);
    }
  }
  return large;
}

std::vector<double> nearest(std::span<const double> map, MapSize from, MapSize to) {
  expect_size(map, from, to);
  std::vector<double> large;
  large.reserve(static_cast<size_t>(to.rows * to.columns));
  for (int64_t y = 0; y < to.rows; ++y) {
    const int64_t row = (2 * y + 1) * from.rows / (2 * to.rows);
    for (int64_t x = 0; x < to.columns; ++x) {
      const int64_t column = (2 * x + 1) * from.columns / (2 * to.columns);
      large.push_back(map[static_cast<size_t>(row * from.columns + column)]);
    }
  }
  return large;
}

std::vector<double> min_max(std::span<const double> map) {
  std::vector<double> scaled(map.size());
  if (map.empty()) return scaled;
  const auto [smallest, largest] = std::minmax_element(map.begin(), map.end());
  const double low = *smallest;
  const double range = *largest - low;
  if (!(range > 0)) return scaled;
  std::transform(map.begin(), map.end(), scaled.begin(),
                 [&](double value) { return (value - low) / range; });
  return scaled;
}

std::vector<double> by_largest_magnitude(std::span<const double> map) {
  double top = 0;
  for (const double value : map) top = std::max(top, std::abs(value));
  std::vector<double> scaled(map.size());
  if (top == 0) return scaled;
  std::transform(map.begin(), map.end(), scaled.begin(),
                 [top](double value) { return value / top; });
  return scaled;
}

// Otsu 1979, eq. 18, as OpenCV and scikit-image apply it to pictures of bytes: the variance between
// the classes for every cut, from running sums.
int otsu_level(std::span<const double> map) {
  std::array<double, kOtsuLevels> counts{};
  double total_sum = 0;
  for (const double value : map) {
    const int level = otsu_level_of(value);
    ++counts[static_cast<size_t>(level)];
    total_sum += level;
  }
  const auto total = static_cast<double>(map.size());
  int best = 0;
  double largest = -1;
  double below = 0;
  double sum_below = 0;
  for (int level = 0; level < kOtsuLevels; ++level) {
    below += counts[static_cast<size_t>(level)];
    sum_below += level * counts[static_cast<size_t>(level)];
    const double above = total - below;
    if (below == 0 || above == 0) continue;
    const double distance = sum_below / below - (total_sum - sum_below) / above;
    const double variance = below * above * distance * distance;
    if (variance > largest) {
      largest = variance;
      best = level;
    }
  }
  return best;
}

std::vector<bool> otsu_segment(std::span<const double> map) {
  const int level = otsu_level(map);
  std::vector<bool> inside;
  inside.reserve(map.size());
  for (const double value : map) inside.push_back(otsu_level_of(value) > level);
  return inside;
}

}  // namespace whyformer
