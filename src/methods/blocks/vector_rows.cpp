#include "methods/blocks/vector_rows.h"

#include <algorithm>
#include <cmath>

#include "kernels/gemm.h"
#include "methods/blocks/sums.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

constexpr double kStabiliser = 1e-12;  // of the reference code, in both quotients

// How much of the bias goes to one vector, before the weights of a row are made to add up to 1.
template <typename T>
double raw_weight(const T* x, const std::vector<double>& bias, double bias_norm, BiasShare share) {
  const auto width = static_cast<int64_t>(bias.size());
  const auto dot = [&] { return sum_of(width, [&](int64_t d) { return x[d] * bias[d]; }); };
  const auto norm = [&] {
    return std::sqrt(sum_of(width, [&](int64_t d) { return static_cast<double>(x[d]) * x[d]; }));
  };
  switch (share) {
    case BiasShare::kAbsoluteDot:
      return std::abs(dot());
    case BiasShare::kDot:
      return dot();
    case BiasShare::kNorm:
      return norm();
    case BiasShare::kEqual:
      return norm() != 0 ? 1 : 0;
    case BiasShare::kAbsoluteSimilarity: {
      const double lengths = norm() * bias_norm;
      return lengths != 0 ? std::abs(dot()) / lengths : 0;
    }
    case BiasShare::kOneToken:
    case BiasShare::kNone:
      break;
  }
  return 0;
}

template <typename T>
std::vector<double> bias_weights(const T* row, int64_t tokens, const std::vector<double>& bias,
                                 const Sharing& sharing) {
  std::vector<double> weights(tokens, 0.0);
  const auto width = static_cast<int64_t>(bias.size());
  const double bias_norm = std::sqrt(sum_of(width, [&](int64_t d) { return bias[d] * bias[d]; }));
  for (int64_t k = 0; k < tokens; ++k) {
    weights[k] = raw_weight(row + k * width, bias, bias_norm, sharing.biases);
  }
  if (sharing.biases == BiasShare::kOneToken) weights[sharing.bias_token] = 1;
  double sum = kStabiliser, size = 0;
  for (const double weight : weights) {
    sum += weight;
    size += std::abs(weight);
  }
  // A bias that no vector has to do with would be lost, and the sums with it.
  if (size < kStabiliser) return std::vector<double>(tokens, 1 / static_cast<double>(tokens));
  for (double& weight : weights) weight /= sum;
  return weights;
}

template <typename T>
void share_in_row(T* row, int64_t tokens, const std::vector<double>& bias, const Sharing& sharing) {
  const std::vector<double> weights = bias_weights(row, tokens, bias, sharing);
  const auto width = static_cast<int64_t>(bias.size());
  for (int64_t k = 0; k < tokens; ++k) {
    T* x = row + k * width;
    for (int64_t d = 0; d < width; ++d) x[d] = static_cast<T>(x[d] + weights[k] * bias[d]);
  }
}

// A tangent's rest is no bias of the model: it is shared out even where biases are left out.
Sharing always_sharing(Sharing sharing) {
  if (sharing.biases == BiasShare::kNone) sharing.biases = BiasShare::kAbsoluteDot;
  return sharing;
}

}  // namespace

void share_bias(Tensor vectors, const std::vector<double>& bias, const Sharing& sharing) {
  if (sharing.biases == BiasShare::kNone) return;
  with_float_type(vectors.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const int64_t row_size = vectors.dim(1) * vectors.dim(2);
    for (int64_t row = 0; row < vectors.dim(0); ++row) {
      share_in_row(vectors.mutable_data<T>() + row * row_size, vectors.dim(1), bias, sharing);
    }
  });
}

Tensor linear_of(const Tensor& vectors, const LinearWeights& weights) {
  return weights.apply(vectors, Direction::kForward);
}

void add_linear(const Tensor& vectors, const LinearWeights& weights, Tensor sums) {
  add_vectors(std::move(sums), linear_of(vectors, weights));
}

void add_vectors(Tensor vectors, const Tensor& more) {
  with_float_type(vectors.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* x = vectors.mutable_data<T>();
    add(x, more.data<T>(), x, vectors.size());
  });
}

void carry_through_norm(Tensor vectors, const NormStep& norm, const Sharing& sharing) {
  const int64_t tokens = vectors.dim(1), width = vectors.dim(2);
  with_float_type(vectors.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t at = 0; at < vectors.dim(0) * tokens; ++at) {
      T* x = vectors.mutable_data<T>() + at * width;
      const double mean = sum_of(width, [&](int64_t d) { return static_cast<double>(x[d]); }) /
                          static_cast<double>(width);
      const double scale = norm.inverse_deviation[at / tokens];
      for (int64_t d = 0; d < width; ++d) {
        x[d] = static_cast<T>((x[d] - mean) * scale * norm.weight[d]);
      }
    }
  });
  share_bias(vectors, norm.bias, sharing);
}

void divide_by_length(Tensor vectors, const Tensor& states) {
  const int64_t size = vectors.dim(1) * vectors.dim(2), width = states.dim(1);
  const std::vector<double> values = states.to_doubles();
  with_float_type(vectors.dtype(), [&](auto zero) {
    using T = decltype(zero);
    for (int64_t row = 0; row < vectors.dim(0); ++row) {
      const double* x = values.data() + row * width;
      const double length = std::sqrt(sum_of(width, [&](int64_t d) { return x[d] * x[d]; }));
      if (length == 0) continue;
      T* to = vectors.mutable_data<T>() + row * size;
      for (int64_t i = 0; i < size; ++i) to[i] = static_cast<T>(to[i] / length);
    }
  });
}

void carry_through_activation(Tensor vectors, ActivationFunction f, const Tensor& states,
                              const Sharing& sharing) {
  const int64_t tokens = vectors.dim(1), width = vectors.dim(2);
  with_float_type(vectors.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> value(width), slope(width);
    std::vector<double> factor(width), rest(width);
    const bool tangent = sharing.activation == ActivationShare::kTangent;
    for (int64_t row = 0; row < vectors.dim(0); ++row) {
      const T* z = states.data<T>() + row * width;
      activate(f, z, value.data(), slope.data(), width);
      for (int64_t d = 0; d < width; ++d) {
        factor[d] = tangent ? slope[d] : value[d] / (z[d] + kStabiliser);
        rest[d] = value[d] - factor[d] * z[d];
      }
      T* x = vectors.mutable_data<T>() + row * tokens * width;
      for (int64_t k = 0; k < tokens; ++k) {
        for (int64_t d = 0; d < width; ++d) {
          x[k * width + d] = static_cast<T>(x[k * width + d] * factor[d]);
        }
      }
      if (tangent) share_in_row(x, tokens, rest, always_sharing(sharing));
    }
  });
}

}  // namespace whyformer
