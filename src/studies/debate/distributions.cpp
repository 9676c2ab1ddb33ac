#include "studies/debate/distributions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace whyformer {
namespace {

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

}  // namespace

double js_divergence(std::span<const double> p, std::span<const double> q) {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double middle = (p[i] + q[i]) / 2;
    if (p[i] > 0) sum += p[i] * std::log(p[i] / middle) / 2;
    if (q[i] > 0) sum += q[i] * std::log(q[i] / middle) / 2;
  }
  return std::clamp(sum, 0.0, std::log(2.0));
}

void add_js_gradient(std::span<const double> p, std::span<const double> q, double factor,
                     std::span<double> gradient) {
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] > 0) gradient[i] += factor * std::log(2 * p[i] / (p[i] + q[i])) / 2;
  }
}

double entropy_of(std::span<const double> p) {
  double sum = 0;
  for (const double share : p) {
    if (share > 0) sum -= share * std::log(share);
  }
  return sum;
}

double AnswerDistance::operator()(std::span<const double> p, std::span<const double> q) const {
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += std::abs(p[i] - q[i]);
  return is_sigmoid(problem) ? sum / static_cast<double>(p.size()) : sum / 2;
}

std::vector<double> AnswerDistance::gradient(std::span<const double> p,
                                             std::span<const double> q) const {
  const auto count = static_cast<double>(p.size());
  std::vector<double> slopes(p.size());
  double inner = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double to_probability = sign_of(p[i] - q[i]) / (is_sigmoid(problem) ? count : 2);
    slopes[i] = is_sigmoid(problem) ? to_probability * p[i] * (1 - p[i]) : to_probability;
    inner += to_probability * p[i];
  }
  if (is_sigmoid(problem)) return slopes;
  for (size_t i = 0; i < p.size(); ++i) slopes[i] = p[i] * (slopes[i] - inner);
  return slopes;
}

std::vector<double> normalised(std::vector<double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights)
    weight = sum > 0 ? weight / sum : 1 / static_cast<double>(weights.size());
  return weights;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace whyformer
