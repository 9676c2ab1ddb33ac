#include "studies/concepts/gram.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "kernels/cholesky.h"
#include "kernels/gemm.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

constexpr int64_t kStrip = 1024;  // columns
constexpr int64_t kBlock =
    96;  // rows that are packed at once; products above the diagonal are left out
// Up to this width products are summed in double: with more examples than columns the Gram matrix
// has no full rank, and rounding in float would give it directions that the activations do not
// have.
constexpr int64_t kWidestInDouble = 4096;

// A strip of the activations with the mean of each column taken out, [rows, width].
template <typename T>
void centre_strip(const FloatRows& from, int64_t first, int64_t width, std::vector<T>& strip) {
  parallel_for(width, 64, [&](int64_t begin, int64_t end) {
    std::vector<double> mean(end - begin, 0);
    for (int64_t row = 0; row < from.rows; ++row) {
      const float* numbers = from.data + row * from.width + first;
      for (int64_t i = begin; i < end; ++i) mean[i - begin] += numbers[i];
    }
    for (double& m : mean) m /= static_cast<double>(from.rows);
    for (int64_t row = 0; row < from.rows; ++row) {
      const float* numbers = from.data + row * from.width + first;
      T* out = strip.data() + row * width;
      for (int64_t i = begin; i < end; ++i) {
        out[i] = static_cast<T>(static_cast<double>(numbers[i]) - mean[i - begin]);
      }
    }
  });
}

// Adds a strip's products, all in double.
void add_in_double(const FloatRows& activations, const FloatRows& gradients, int64_t first,
                   int64_t width, std::vector<double>& strip, InnerProducts& products) {
  const int64_t n = activations.rows;
  centre_strip(activations, first, width, strip);
  parallel_for(n + gradients.rows, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> part(n), slopes(width);
    for (int64_t i = begin; i < end; ++i) {
      const bool is_activation = i < n;
      if (is_activation) {
        multiply_vector(strip.data(), i + 1, width, strip.data() + i * width, part.data());
      } else {
        const float* row = gradients.data + (i - n) * gradients.width + first;
        std::copy_n(row, width, slopes.begin());
        multiply_vector(strip.data(), n, width, slopes.data(), part.data());
      }
      double* out = is_activation ? products.gram.row(i) : products.slopes.data() + (i - n) * n;
      for (int64_t j = 0; j < (is_activation ? i + 1 : n); ++j) out[j] += part[j];
    }
  });
}

// Adds a strip's products, each a sum in float.
void add_in_float(const FloatRows& activations, const FloatRows& gradients, int64_t first,
                  int64_t width, std::vector<float>& strip, InnerProducts& products) {
  const int64_t n = activations.rows;
  std::vector<float> part(std::max(n, gradients.rows) * kBlock);
  centre_strip(activations, first, width, strip);
  for (int64_t block = 0; block < n; block += kBlock) {
    const int64_t columns = std::min(kBlock, n - block);
    const PackedMatrix packed(strip.data() + block * width, width, columns, 1, width);
    multiply_packed(strip.data() + block * width, n - block, width, packed, part.data(), columns);
    for (int64_t i = block; i < n; ++i) {
      double* out = products.gram.row(i) + block;
      for (int64_t j = 0; j < columns; ++j) out[j] += part[(i - block) * columns + j];
    }
    if (gradients.rows == 0) continue;
    multiply_packed(gradients.data + first, gradients.rows, gradients.width, packed, part.data(),
                    columns);
    for (int64_t i = 0; i < gradients.rows; ++i) {
      double* out = products.slopes.data() + i * n + block;
      for (int64_t j = 0; j < columns; ++j) out[j] += part[i * columns + j];
    }
  }
}

}  // namespace

InnerProducts inner_products(const FloatRows& activations, const FloatRows& gradients) {
  if (gradients.rows > 0 && gradients.width != activations.width) {
    throw Error(fmt::format("inner products: gradients have {} columns but activations have {}",
                            gradients.width, activations.width));
  }
  const int64_t n = activations.rows;
  InnerProducts products{SquareMatrix(n), std::vector<double>(gradients.rows * n, 0)};
  const bool in_double = activations.width <= kWidestInDouble;
  const int64_t elements = n * std::min(kStrip, activations.width);
  std::vector<float> floats(in_double ? 0 : elements);
  std::vector<double> doubles(in_double ? elements : 0);
  for (int64_t first = 0; first < activations.width; first += kStrip) {
    const int64_t width = std::min(kStrip, activations.width - first);
    if (in_double)
      add_in_double(activations, gradients, first, width, doubles, products);
    else
      add_in_float(activations, gradients, first, width, floats, products);
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) products.gram.row(i)[j] = products.gram.at(j, i);
  }
  return products;
}

}  // namespace whyformer
