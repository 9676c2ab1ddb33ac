#include "evaluate/magnitudes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace whyformer {

bool all_finite(std::span<const double> scores) {
  return std::ranges::all_of(scores, [](double score) { return std::isfinite(score); });
}

std::vector<double> magnitudes_of(std::span<const double> scores) {
  std::vector<double> magnitudes;
  magnitudes.reserve(scores.size());
  for (const double score : scores) magnitudes.push_back(std::abs(score));
  return magnitudes;
}

double sum_of_magnitudes(std::span<const double> scores) {
  double sum = 0;
  for (const double score : scores) sum += std::abs(score);
  return sum;
}

std::vector<double> scaled_near_one(std::span<const double> scores) {
  double largest = 0;
  for (const double score : scores) largest = std::max(largest, std::abs(score));
  int exponent = 0;
  std::frexp(largest, &exponent);
  std::vector<double> scaled;
  scaled.reserve(scores.size());
  for (const double score : scores) scaled.push_back(std::ldexp(score, -exponent));
  return scaled;
}

std::vector<int64_t> by_magnitude(std::span<const double> scores) {
  std::vector<int64_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return std::abs(scores[a]) < std::abs(scores[b]); });
  return order;
}

std::vector<bool> above_zero(std::span<const double> scores) {
  double largest = 0;
  for (const double score : scores) largest = std::max(largest, std::abs(score));
  std::vector<bool> above;
  for (const double score : scores) above.push_back(std::abs(score) > 1e-5 * largest);
  return above;
}

double distance(std::span<const double> a, std::span<const double> b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(squares);
}

}  // namespace whyformer
