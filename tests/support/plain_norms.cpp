#include "tests/support/plain_norms.h"

#include <cmath>

namespace whyformer {
namespace {

double dot(const PlainVector& a, const PlainVector& b) {
  double sum = 0;
  for (size_t d = 0; d < a.size(); ++d) sum += a[d] * b[d];
  return sum;
}

double length(const PlainVector& x) { return std::sqrt(dot(x, x)); }

PlainVector plus(PlainVector a, const PlainVector& b, double factor = 1) {
  for (size_t d = 0; d < a.size(); ++d) a[d] += factor * b[d];
  return a;
}

// (x - mean(x)) / σ(state) ⊙ γ: the vector's own mean, the state's deviation.
PlainVector through_norm(const PlainNorm& norm, const PlainVector& x, const PlainVector& state) {
  double mean = 0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  PlainVector y = x;
  for (size_t d = 0; d < x.size(); ++d)
    y[d] = (x[d] - mean) / norm.deviation(state) * norm.weight[d];
  return y;
}

PlainVector bias_or_zero(const PlainLinear& linear) {
  return linear.bias.empty() ? PlainVector(linear.weight.size(), 0.0) : linear.bias;
}

// x_k += w_k·b.
void spread(PlainRows& row, const PlainVector& bias, const Sharing& sharing) {
  PlainVector weights;
  for (size_t k = 0; k < row.size(); ++k) {
    const double product = dot(row[k], bias);
    const double size = length(row[k]);
    double weight = 0;
    if (sharing.biases == BiasShare::kAbsoluteDot) weight = std::abs(product);
    if (sharing.biases == BiasShare::kNorm) weight = size;
    if (sharing.biases == BiasShare::kEqual) weight = size != 0;
    if (sharing.biases == BiasShare::kDot) weight = product;
    if (sharing.biases == BiasShare::kOneToken)
      weight = static_cast<int64_t>(k) == sharing.bias_token;
    if (sharing.biases == BiasShare::kAbsoluteSimilarity && size != 0 && length(bias) != 0) {
      weight = std::abs(product) / (size * length(bias));
    }
    weights.push_back(weight);
  }
  double sum = 1e-12;
  for (const double weight : weights) sum += weight;
  for (size_t k = 0; k < row.size(); ++k) row[k] = plus(row[k], bias, weights[k] / sum);
}

void spread_bias(PlainRows& row, const PlainVector& bias, const Sharing& sharing) {
  if (sharing.biases != BiasShare::kNone) spread(row, bias, sharing);
}

PlainRows norm_row(const PlainNorm& norm, const PlainRows& row, const PlainVector& state,
                   const Sharing& sharing) {
  PlainRows result;
  for (const PlainVector& x : row) result.push_back(through_norm(norm, x, state));
  spread_bias(result, norm.bias, sharing);
  return result;
}

PlainRows linear_row(const PlainLinear& linear, const PlainRows& row, const Sharing& sharing) {
  PlainRows result;
  for (const PlainVector& x : row) result.push_back(linear.without_bias(x));
  spread_bias(result, bias_or_zero(linear), sharing);
  return result;
}

void activate_row(ActivationFunction f, PlainRows& row, const PlainVector& z, Sharing sharing) {
  PlainVector rest(z.size());
  const bool tangent = sharing.activation == ActivationShare::kTangent;
  for (size_t d = 0; d < z.size(); ++d) {
    const double value = plain_activation(f, z[d]);
    const double factor = tangent ? plain_slope(f, z[d]) : value / (z[d] + 1e-12);
    rest[d] = value - factor * z[d];
    for (PlainVector& x : row) x[d] *= factor;
  }
  if (sharing.biases == BiasShare::kNone) sharing.biases = BiasShare::kAbsoluteDot;
  if (tangent) spread(row, rest, sharing);
}

// Σ_h Σ_j A_h[i,j] (W_V^h v_j) W_O^h for one vector per token: without biases.
PlainVector mixed(const PlainEncoder& encoder, const PlainLayer& layer, const PlainStates& states,
                  size_t i, const PlainRows& values) {
  PlainVector context(values[0].size(), 0.0);
  const size_t depth = context.size() / encoder.heads;
  for (size_t c = 0; c < context.size(); ++c) {
    for (size_t j = 0; j < values.size(); ++j)
      context[c] += states.maps[c / depth][i][j] * values[j][c];
  }
  return layer.output.without_bias(context);
}

PlainVectors after_attention(const PlainEncoder& encoder, const PlainLayer& layer,
                             const PlainStates& states, const PlainVectors& x,
                             const Sharing& sharing) {
  const size_t n = x.size();
  PlainVectors read = x;
  for (size_t j = 0; encoder.norms_before && j < n; ++j) {
    read[j] = norm_row(layer.first, x[j], states.input[j], sharing);
  }
  PlainVectors result = x;
  const PlainVector bias =
      plus(layer.output.without_bias(bias_or_zero(layer.value)), bias_or_zero(layer.output));
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < n; ++k) {
      PlainRows values;
      for (size_t j = 0; j < n; ++j) values.push_back(layer.value.without_bias(read[j][k]));
      result[i][k] = plus(result[i][k], mixed(encoder, layer, states, i, values));
    }
    spread_bias(result[i], bias, sharing);
  }
  return result;
}

// One row from behind the attention's residual path to the end of the layer.
PlainRows finish_row(const PlainEncoder& encoder, const PlainLayer& layer,
                     const PlainStates& states, size_t i, PlainRows row, const Sharing& sharing) {
  if (!encoder.norms_before) row = norm_row(layer.first, row, states.sum[i], sharing);
  PlainRows inner = row;
  if (encoder.norms_before) inner = norm_row(layer.second, row, states.sum[i], sharing);
  inner = linear_row(layer.inner, inner, sharing);
  activate_row(encoder.activation, inner, states.before_activation[i], sharing);
  const PlainRows outer = linear_row(layer.outer, inner, sharing);
  for (size_t k = 0; k < row.size(); ++k) row[k] = plus(row[k], outer[k]);
  if (encoder.norms_before) return row;
  return norm_row(layer.second, row, states.second_sum[i], sharing);
}

PlainRows head_scores(const PlainEncoder& encoder, const PlainStates& last, PlainVectors x,
                      const Sharing& sharing) {
  const size_t n = x.size();
  PlainVector state(last.output[0].size(), 0.0);
  PlainRows row(n, state);
  for (size_t i = 0; i < n; ++i) {
    PlainVector row_state = last.output[i];
    if (encoder.final_norm) {
      x[i] = norm_row(*encoder.final_norm, x[i], last.output[i], sharing);
      row_state = (*encoder.final_norm)(last.output[i]);
    }
    const bool is_read = static_cast<int64_t>(i) == encoder.read_row;
    const double share = encoder.reads_mean ? 1 / static_cast<double>(n) : (is_read ? 1 : 0);
    state = plus(state, row_state, share);
    for (size_t k = 0; k < n; ++k) row[k] = plus(row[k], x[i][k], share);
  }
  if (encoder.pooler) {
    row = linear_row(*encoder.pooler, row, sharing);
    activate_row(ActivationFunction::kTanh, row, (*encoder.pooler)(state), sharing);
  }
  return linear_row(encoder.classifier, row, sharing);
}

}  // namespace

PlainVectors plain_attention_vectors(const PlainEncoder& encoder, int64_t layer,
                                     const PlainStates& states, int64_t head) {
  const PlainLinear& output = encoder.layers[layer].output;
  const size_t n = states.input.size();
  const size_t depth = states.values[0].size() / encoder.heads;
  PlainVectors vectors(n, PlainRows(n, PlainVector(output.weight.size(), 0.0)));
  for (int64_t h = 0; h < encoder.heads; ++h) {
    if (head >= 0 && h != head) continue;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        for (size_t d = 0; d < output.weight.size(); ++d) {
          double f = 0;
          for (size_t c = h * depth; c < (h + 1) * depth; ++c)
            f += states.values[j][c] * output.weight[d][c];
          vectors[i][j][d] += states.maps[h][i][j] * f;
        }
      }
    }
  }
  return vectors;
}

PlainVectors plain_residual_vectors(const PlainEncoder& encoder, int64_t layer,
                                    const PlainStates& states) {
  PlainVectors vectors = plain_attention_vectors(encoder, layer, states);
  for (size_t i = 0; i < vectors.size(); ++i) vectors[i][i] = plus(vectors[i][i], states.input[i]);
  return vectors;
}

PlainVectors plain_normed_vectors(const PlainEncoder& encoder, int64_t layer,
                                  const PlainStates& states) {
  PlainVectors vectors = plain_residual_vectors(encoder, layer, states);
  if (encoder.norms_before) return vectors;
  for (size_t i = 0; i < vectors.size(); ++i) {
    for (PlainVector& x : vectors[i]) {
      x = through_norm(encoder.layers[layer].first, x, states.sum[i]);
    }
  }
  return vectors;
}

PlainVectors plain_block_vectors(const PlainEncoder& encoder, int64_t layer,
                                 const PlainStates& states) {
  PlainVectors vectors = plain_normed_vectors(encoder, layer, states);
  if (encoder.norms_before) return vectors;
  for (size_t i = 0; i < vectors.size(); ++i) {
    for (PlainVector& x : vectors[i]) {
      x = through_norm(encoder.layers[layer].second, x, states.second_sum[i]);
    }
  }
  return vectors;
}

PlainRows plain_lengths(const PlainVectors& vectors) {
  PlainRows map;
  for (const PlainRows& row : vectors) {
    map.emplace_back();
    for (const PlainVector& x : row) map.back().push_back(length(x));
  }
  return map;
}

PlainRows plain_alti(const PlainVectors& vectors, const PlainRows& states, AltiOptions::Norm norm) {
  const auto size = [&](const PlainVector& x) {
    if (norm == AltiOptions::Norm::kL2) return length(x);
    double sum = 0;
    for (const double value : x) sum += std::abs(value);
    return sum;
  };
  PlainRows map;
  for (size_t i = 0; i < vectors.size(); ++i) {
    PlainVector row;
    double sum = 0;
    for (const PlainVector& x : vectors[i]) {
      row.push_back(std::max(0.0, size(states[i]) - size(plus(states[i], x, -1))));
      sum += row.back();
    }
    if (sum == 0) row[i] = sum = 1;
    for (double& entry : row) entry /= sum;
    map.push_back(row);
  }
  return map;
}

PlainDecomposition plain_decompx(const PlainEncoder& encoder,
                                 const std::vector<PlainStates>& states, const Sharing& sharing) {
  PlainDecomposition result;
  for (size_t l = 0; l < encoder.layers.size(); ++l) {
    const PlainLayer& layer = encoder.layers[l];
    PlainVectors x;
    if (l == 0) {
      x = plain_residual_vectors(encoder, 0, states[0]);
      for (PlainRows& row : x) spread_bias(row, bias_or_zero(layer.output), sharing);
    } else {
      x = after_attention(encoder, layer, states[l], result.layers.back(), sharing);
    }
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = finish_row(encoder, layer, states[l], i, x[i], sharing);
    }
    result.layers.push_back(std::move(x));
  }
  result.scores = head_scores(encoder, states.back(), result.layers.back(), sharing);
  return result;
}

}  // namespace whyformer
