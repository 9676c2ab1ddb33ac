#include "readers/pictures/blurred.h"

#include <cmath>
#include <span>
#include <vector>

namespace whyformer {
namespace {

int64_t mirrored(int64_t i, int64_t size) {
  if (size == 1) return 0;
  const int64_t period = 2 * size - 2;
  i = ((i % period) + period) % period;
  return i < size ? i : period - i;
}

// One line of `count` numbers, `step` apart.
void blur_line(const std::vector<double>& weights, double* line, int64_t count, int64_t step) {
  const auto radius = static_cast<int64_t>(weights.size()) / 2;
  std::vector<double> old(count);
  for (int64_t i = 0; i < count; ++i) old[i] = line[i * step];
  for (int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int64_t k = -radius; k <= radius; ++k)
      sum += weights[k + radius] * old[mirrored(i + k, count)];
    line[i * step] = sum;
  }
}

std::vector<double> gaussian(double deviation) {
  const auto radius = static_cast<int64_t>(std::ceil(3 * deviation));
  std::vector<double> weights;
  double sum = 0;
  for (int64_t k = -radius; k <= radius; ++k) {
    weights.push_back(std::exp(-0.5 * static_cast<double>(k * k) / (deviation * deviation)));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

// What a Gaussian of deviation 5, cut off at 20, makes of a 1 in the middle of 11 numbers whose
// edges are mirrored: the authors' way to cut the Gaussian to 11 weights with the sum 1.
std::vector<double> rise_weights() {
  constexpr int64_t kSize = 11, kMiddle = 5, kReach = 20;
  std::vector<double> gauss;
  double sum = 0;
  for (int64_t k = -kReach; k <= kReach; ++k) {
    gauss.push_back(std::exp(-0.5 * static_cast<double>(k * k) / 25));
    sum += gauss.back();
  }
  std::vector<double> weights(kSize, 0.0);
  for (int64_t i = 0; i < kSize; ++i) {
    for (int64_t k = -kReach; k <= kReach; ++k) {
      // The edge itself is repeated: … 1 0 | 0 1 2 …
      const int64_t folded = ((i + k) % (2 * kSize) + 2 * kSize) % (2 * kSize);
      const int64_t place = folded < kSize ? folded : 2 * kSize - 1 - folded;
      if (place == kMiddle) weights[i] += gauss[k + kReach] / sum;
    }
  }
  return weights;
}

void blur_line_in_zeros(const std::vector<double>& weights, double* line, int64_t count,
                        int64_t step) {
  const auto radius = static_cast<int64_t>(weights.size()) / 2;
  std::vector<double> old(count);
  for (int64_t i = 0; i < count; ++i) old[i] = line[i * step];
  for (int64_t i = 0; i < count; ++i) {
    double sum = 0;
    for (int64_t k = -radius; k <= radius; ++k) {
      if (i + k >= 0 && i + k < count) sum += weights[k + radius] * old[i + k];
    }
    line[i * step] = sum;
  }
}

using BlurLine = void (*)(const std::vector<double>& weights, double* line, int64_t count,
                          int64_t step);

Tensor blurred_along_both(const Tensor& pixels, const std::vector<double>& weights, BlurLine blur) {
  const int64_t channels = pixels.dim(0), height = pixels.dim(1), width = pixels.dim(2);
  std::vector<double> values = pixels.to_doubles();
  for (int64_t c = 0; c < channels; ++c) {
    double* plane = values.data() + c * height * width;
    for (int64_t y = 0; y < height; ++y) blur(weights, plane + y * width, width, 1);
    for (int64_t x = 0; x < width; ++x) blur(weights, plane + x, height, width);
  }
  return Tensor::of<double>(pixels.shape(), std::span<const double>(values)).cast(pixels.dtype());
}

}  // namespace

Tensor blurred(const Tensor& pixels, double deviation) {
  return blurred_along_both(pixels, gaussian(deviation), blur_line);
}

Tensor blurred_with_zeros_around(const Tensor& pixels) {
  return blurred_along_both(pixels, rise_weights(), blur_line_in_zeros);
}

}  // namespace whyformer
