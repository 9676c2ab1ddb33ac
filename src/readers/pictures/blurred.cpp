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

}  // namespace

Tensor blurred(const Tensor& pixels, double deviation) {
  const std::vector<double> weights = gaussian(deviation);
  const int64_t channels = pixels.dim(0), height = pixels.dim(1), width = pixels.dim(2);
  std::vector<double> values = pixels.to_doubles();
  for (int64_t c = 0; c < channels; ++c) {
    double* plane = values.data() + c * height * width;
    for (int64_t y = 0; y < height; ++y) blur_line(weights, plane + y * width, width, 1);
    for (int64_t x = 0; x < width; ++x) blur_line(weights, plane + x, height, width);
  }
  return Tensor::of<double>(pixels.shape(), std::span<const double>(values)).cast(pixels.dtype());
}

}  // namespace whyformer
