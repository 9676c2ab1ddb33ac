#include "evaluate/structural_similarity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr double kSigma = 1.5;
constexpr int64_t kWindow = 11;
constexpr double kC1 = 0.01 * 0.01, kC2 = 0.03 * 0.03;

using Map = std::vector<double>;

std::optional<Map> scaled(std::span<const double> map) {
  if (!std::ranges::all_of(map, [](double x) { return std::isfinite(x); })) return std::nullopt;
  const auto [least, most] = std::ranges::minmax_element(map);
  const double range = *most - *least;
  if (!(range > 0) || !std::isfinite(range)) return std::nullopt;
  Map result;
  for (const double x : map) result.push_back((x - *least) / range);
  return result;
}

Map gaussian_window(int64_t side) {
  Map weights;
  double sum = 0;
  for (int64_t i = 0; i < side; ++i) {
    const double distance = static_cast<double>(i - side / 2) / kSigma;
    weights.push_back(std::exp(-distance * distance / 2));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

// Weighted means over windows that lie inside the map, rows first and then columns.
Map filtered(const Map& map, MapSize size, const Map& window) {
  const auto side = static_cast<int64_t>(window.size());
  const int64_t rows = size.rows - side + 1, columns = size.columns - side + 1;
  Map across(size.rows * columns, 0.0), result(rows * columns, 0.0);
  for (int64_t y = 0; y < size.rows; ++y) {
    for (int64_t x = 0; x < columns; ++x) {
      for (int64_t k = 0; k < side; ++k)
        across[y * columns + x] += window[k] * map[y * size.columns + x + k];
    }
  }
  for (int64_t y = 0; y < rows; ++y) {
    for (int64_t x = 0; x < columns; ++x) {
      for (int64_t k = 0; k < side; ++k)
        result[y * columns + x] += window[k] * across[(y + k) * columns + x];
    }
  }
  return result;
}

Map product(const Map& a, const Map& b) {
  Map result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(a[i] * b[i]);
  return result;
}

}  // namespace

int64_t structure_window(MapSize size) {
  const int64_t most = std::min({kWindow, size.rows, size.columns});
  const int64_t odd = most % 2 == 1 ? most : most - 1;
  return odd < 3 ? 0 : odd;
}

std::optional<double> structural_similarity(std::span<const double> a, std::span<const double> b,
                                            MapSize size) {
  if (a.size() != b.size() || static_cast<int64_t>(a.size()) != size.rows * size.columns) {
    throw InvalidInput(fmt::format("maps of {} and {} numbers for {} x {} cells", a.size(),
                                   b.size(), size.rows, size.columns));
  }
  const int64_t side = structure_window(size);
  if (side == 0) return std::nullopt;
  const auto x = scaled(a), y = scaled(b);
  if (!x || !y) return std::nullopt;
  const Map window = gaussian_window(side);
  const auto mean = [&](const Map& map) { return filtered(map, size, window); };
  const Map mx = mean(*x), my = mean(*y);
  const Map xx = mean(product(*x, *x)), yy = mean(product(*y, *y)), xy = mean(product(*x, *y));
  double sum = 0;
  for (size_t i = 0; i < mx.size(); ++i) {
    const double vx = xx[i] - mx[i] * mx[i], vy = yy[i] - my[i] * my[i];
    const double covariance = xy[i] - mx[i] * my[i];
    sum += (2 * mx[i] * my[i] + kC1) * (2 * covariance + kC2) /
           ((mx[i] * mx[i] + my[i] * my[i] + kC1) * (vx + vy + kC2));
  }
  return sum / static_cast<double>(mx.size());
}

}  // namespace whyformer
