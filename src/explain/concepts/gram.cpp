#include "explain/concepts/gram.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "kernels/gemm.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kStrip = 1024;  // columns
constexpr int64_t kBlock = 96;    // rows that are packed at once; products above the diagonal are left out

// A strip of the activations with the mean of each column taken out, [rows, width].
void centre_strip(const FloatRows& from, int64_t first, int64_t width, std::vector<float>& strip) {
  parallel_for(width, 64, [&](int64_t begin, int64_t end) {
    std::vector<double> mean(end - begin, 0);
    for (int64_t row = 0; row < from.rows; ++row) {
      const float* numbers = from.data + row * from.width + first;
      for (int64_t i = begin; i < end; ++i) mean[i - begin] += numbers[i];
    }
    for (double& m : mean) m /= static_cast<double>(from.rows);
    for (int64_t row = 0; row < from.rows; ++row) {
      const float* numbers = from.data + row * from.width + first;
      float* out = strip.data() + row * width;
      for (int64_t i = begin; i < end; ++i) {
        out[i] = static_cast<float>(static_cast<double>(numbers[i]) - mean[i - begin]);
      }
    }
  });
}

}  // namespace

InnerProducts inner_products(const FloatRows& activations, const FloatRows& gradients) {
  if (gradients.rows > 0 && gradients.width != activations.width) {
    throw Error(fmt::format("inner products: gradients have {} columns but activations have {}",
                            gradients.width, activations.width));
  }
  const int64_t n = activations.rows;
  InnerProducts products{SquareMatrix(n), std::vector<double>(gradients.rows * n, 0)};
  std::vector<float> strip(n * std::min(kStrip, activations.width));
  std::vector<float> part(std::max(n, gradients.rows) * kBlock);
  for (int64_t first = 0; first < activations.width; first += kStrip) {
    const int64_t width = std::min(kStrip, activations.width - first);
    centre_strip(activations, first, width, strip);
    for (int64_t block = 0; block < n; block += kBlock) {
      const int64_t columns = std::min(kBlock, n - block);
      const PackedMatrix packed(strip.data() + block * width, width, columns, 1, width);
      multiply_packed(strip.data() + block * width, n - block, width, packed, part.data(), columns);
      for (int64_t i = block; i < n; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          products.gram.row(i)[block + j] += part[(i - block) * columns + j];
        }
      }
      if (gradients.rows == 0) continue;
      multiply_packed(gradients.data + first, gradients.rows, gradients.width, packed, part.data(),
                      columns);
      for (int64_t i = 0; i < gradients.rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          products.slopes[i * n + block + j] += part[i * columns + j];
        }
      }
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) products.gram.row(i)[j] = products.gram.at(j, i);
  }
  return products;
}

}  // namespace whyformer
