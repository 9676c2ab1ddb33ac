#include "methods/blocks/block_vectors.h"

#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/pulse.h"
#include "kernels/gemm.h"
#include "methods/blocks/sums.h"
#include "ops/helpers.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// Vectors that are made together: so many rows per product, and no more than stay in the cache.
constexpr int64_t kTileRows = 16;
constexpr int64_t kTileTokens = 32;
constexpr int64_t kLeastRows = 8;

// f_h(x_j) = V_h[j,:]·W_O^h, without the bias of the projection; W_O^h are columns h·d to (h+1)·d
// of the stored [out, in] weight, transposed.
template <typename T>
Tensor transformed_values(const Tensor& heads, const LinearWeights& projection) {
  const int64_t count = heads.dim(0), tokens = heads.dim(1), depth = heads.dim(2);
  const int64_t width = projection.out_features();
  Tensor result = Tensor::empty({tokens, count, width}, heads.dtype());
  ProductStack<T> products;
  products.inner = count;
  products.a = {heads.data<T>(), tokens, depth, heads.stride(1), heads.stride(2)};
  products.a_inner = heads.stride(0);
  const Tensor& weight = projection.weight();
  products.b = {weight.data<T>(), depth, width, weight.stride(1), weight.stride(0)};
  products.b_inner = depth * weight.stride(1);
  products.c = {result.mutable_data<T>(), tokens, width, count * width, 1};
  products.c_inner = width;
  multiply_stack(products);
  return result;
}

void centre_and_scale(std::span<double> vector, const std::vector<double>& weight,
                      double inverse_deviation) {
  const auto width = static_cast<int64_t>(vector.size());
  const double mean =
      sum_of(width, [&](int64_t d) { return vector[d]; }) / static_cast<double>(width);
  for (int64_t d = 0; d < width; ++d) {
    vector[d] = (vector[d] - mean) * inverse_deviation * weight[d];
  }
}

}  // namespace

Tensor state_rows(const Tensor& value, int64_t sample) {
  const Tensor state = value.select(0, sample).contiguous();
  if (state.rank() == 0) return state.reshape({1, 1});
  return state.reshape({row_count(state), state.dim(-1)});
}

Tensor state_rows(const Pass& pass, Value value, int64_t sample) {
  return state_rows(pass[value], sample);
}

Tensor map_rows(const EncoderBlock& block, const Pass& pass, int64_t sample) {
  return pass[block.attention].select(0, sample).slice(1, block.first_map_row, block.rows);
}

NormStep norm_step(const Node& norm, const Pass& pass, int64_t sample, int64_t first_row,
                   int64_t rows) {
  const LayerNormWeights& weights = *layer_norm_weights(*norm.op);
  NormStep step{weights.weight.to_doubles(), weights.bias.to_doubles(), {}};
  const Tensor states = state_rows(pass, norm.inputs[0], sample).slice(0, first_row, rows);
  const std::vector<double> values = states.to_doubles();
  const int64_t width = states.dim(1);
  for (int64_t row = 0; row < rows; ++row) {
    const std::span<const double> x(values.data() + row * width, width);
    double mean = 0, variance = 0;
    for (const double value : x) mean += value / static_cast<double>(width);
    for (const double value : x) variance += (value - mean) * (value - mean);
    variance /= static_cast<double>(width);
    step.inverse_deviation.push_back(1 / std::sqrt(variance + weights.epsilon));
  }
  return step;
}

BlockVectors::BlockVectors(const EncoderBlock& block, const Pass& pass, int64_t sample,
                           const BlockVectorOptions& options)
    : first_row_(block.first_row) {
  Tensor maps = map_rows(block, pass, sample);
  transformed_ = with_float_type(maps.dtype(), [&](auto zero) {
    return transformed_values<decltype(zero)>(pass[block.values].select(0, sample),
                                              *linear_weights(*block.output_projection->op));
  });
  if (options.head >= 0) {
    maps = maps.slice(0, options.head, 1);
    transformed_ = transformed_.slice(1, options.head, 1).contiguous();
  }
  maps_ = maps.contiguous();
  if (options.reach == Reach::kAttention) return;
  const ResidualPart& attended = block.attended;
  stream_ = state_rows(pass, attended.add->inputs[attended.skip], sample).to_doubles();
  const auto through = [&](const Node* norm) {
    if (norm != nullptr) norms_.push_back(norm_step(*norm, pass, sample, 0, rows()));
  };
  if (options.reach >= Reach::kAttentionNorm) through(attended.norm_after);
  if (options.reach >= Reach::kBlock) through(block.fed_forward.norm_after);
}

void BlockVectors::for_each(const UseVector& use) const {
  parallel_for(rows(), kLeastRows, [&](int64_t begin, int64_t end) {
    with_float_type(maps_.dtype(), [&](auto zero) {
      std::vector<decltype(zero)> buffer(kTileRows * kTileTokens * width());
      for (int64_t row = begin; row < end; row += kTileRows) {
        for (int64_t token = 0; token < tokens(); token += kTileTokens) {
          pulse();
          for_each_in(
              {row, std::min(kTileRows, end - row), token, std::min(kTileTokens, tokens() - token)},
              buffer, use);
        }
      }
    });
  });
}

// For each token j one product: A_·[i,j] of all heads for the rows i, times f_·(x_j).
template <typename T>
void BlockVectors::for_each_in(const Tile& tile, std::vector<T>& buffer,
                               const UseVector& use) const {
  const int64_t heads = maps_.dim(0);
  const int64_t row_size = tile.tokens * width();
  ProductStack<T> products;
  products.outer = tile.tokens;
  products.a = {maps_.data<T>() + tile.row * tokens() + tile.token, tile.rows, heads, tokens(),
                rows() * tokens()};
  products.a_outer = 1;
  products.b = {transformed_.data<T>() + tile.token * heads * width(), heads, width(), width(), 1};
  products.b_outer = heads * width();
  products.c = {buffer.data(), tile.rows, width(), row_size, 1};
  products.c_outer = width();
  multiply_stack(products);
  std::vector<double> vector(width());
  for (int64_t i = 0; i < tile.rows; ++i) {
    for (int64_t j = 0; j < tile.tokens; ++j) {
      std::copy_n(buffer.data() + i * row_size + j * width(), width(), vector.begin());
      carry(tile.row + i, tile.token + j, vector);
      use(tile.row + i, tile.token + j, vector);
    }
  }
}

void BlockVectors::carry(int64_t i, int64_t j, std::span<double> vector) const {
  if (!stream_.empty() && j == first_row_ + i) {
    for (int64_t d = 0; d < width(); ++d) vector[d] += stream_[i * width() + d];
  }
  for (const NormStep& norm : norms_) {
    centre_and_scale(vector, norm.weight, norm.inverse_deviation[i]);
  }
}

Matrix norm_map(const BlockVectors& vectors) {
  Matrix map(vectors.rows(), vectors.tokens());
  vectors.for_each([&](int64_t i, int64_t j, std::span<const double> x) {
    map.at(i, j) = std::sqrt(sum_of(vectors.width(), [&](int64_t d) { return x[d] * x[d]; }));
  });
  return map;
}

}  // namespace whyformer
