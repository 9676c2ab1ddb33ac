#include "studies/heads/voita_rules.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "base/parallel.h"
#include "base/pulse.h"
#include "ops/helpers.h"
#include "studies/heads/voita_shares.h"

namespace whyformer::voita {
namespace {

// Shares one output's relevance out among `count` inputs with impacts slope · x + constant, adding
// to `shares`. `impacts` is room for as many numbers.
template <typename T>
void share_out(const T* slopes, const T* x, T constant, int64_t count, T relevance, T* impacts,
               T* shares) {
  if (relevance == 0) return;
  const SignSums<T> sums = measure_impacts(slopes, x, constant, impacts, count);
  share_by_sign(impacts, rates_of(relevance, sums), shares, count);
}

// Rows of the last axis.
Tensor as_rows(const Tensor& tensor) {
  return tensor.contiguous().reshape({row_count(tensor), tensor.dim(-1)});
}

// Each row of `shares` scaled to its total, then all of them to the sum of the totals.
Tensor rescaled(const Tensor& shares, const std::vector<double>& totals) {
  std::vector<double> factors = sample_sums(shares);
  for (size_t row = 0; row < factors.size(); ++row) {
    factors[row] = rescaling(totals[row], factors[row]);
  }
  const Tensor rows = scale_samples(shares, factors);
  return times(rows, rescaling(std::accumulate(totals.begin(), totals.end(), 0.0), total(rows)));
}

template <typename T>
void share_linear(const LinearWeights& weights, const Tensor& x, const Tensor& relevance,
                  Tensor& shares) {
  const int64_t in = weights.in_features(), out = weights.out_features();
  const Tensor weight = weights.weight().contiguous();
  const T* w = weight.data<T>();
  const T* bias = weights.bias().defined() ? weights.bias().data<T>() : nullptr;
  T* to = shares.mutable_data<T>();
  parallel_for(x.dim(0), 1, [&](int64_t begin, int64_t end) {
    std::vector<T> impacts(in);
    for (int64_t o = 0; o < out; ++o) {
      pulse();
      const T constant = bias ? bias[o] / static_cast<T>(in) : T{0};
      for (int64_t row = begin; row < end; ++row) {
        share_out(w + o * in, x.data<T>() + row * in, constant, in,
                  relevance.data<T>()[row * out + o], impacts.data(), to + row * in);
      }
    }
  });
}

// J_oi = weight_o / σ · (δ_oi - (1 + n_o n_i) / N), n = (x - mean)/σ.
template <typename T>
class LayerNormRow {
 public:
  LayerNormRow(const LayerNormWeights& weights, const T* x, int64_t count)
      : weights_(weights),
        x_(x),
        count_(count),
        normalised_(count),
        slopes_(count),
        impacts_(count) {
    const double mean = std::accumulate(x, x + count, 0.0) / static_cast<double>(count);
    double squares = 0;
    for (int64_t i = 0; i < count; ++i) squares += (x[i] - mean) * (x[i] - mean);
    inverse_deviation_ = 1 / std::sqrt(squares / static_cast<double>(count) + weights.epsilon);
    for (int64_t i = 0; i < count; ++i) {
      normalised_[i] = static_cast<T>((x[i] - mean) * inverse_deviation_);
    }
  }

  void share(const T* relevance, T* shares) {
    const T part = 1 / static_cast<T>(count_);
    for (int64_t o = 0; o < count_; ++o) {
      const T gain = weights_.weight.data<T>()[o] * static_cast<T>(inverse_deviation_);
      for (int64_t i = 0; i < count_; ++i) {
        slopes_[i] = -gain * part * (1 + normalised_[o] * normalised_[i]);
      }
      slopes_[o] += gain;
      share_out(slopes_.data(), x_, weights_.bias.data<T>()[o] * part, count_, relevance[o],
                impacts_.data(), shares);
    }
  }

 private:
  const LayerNormWeights& weights_;
  const T* x_;
  int64_t count_;
  double inverse_deviation_ = 0;
  std::vector<T> normalised_, slopes_, impacts_;
};

// What the first of two addends gets, in its place of both tensors.
Tensor share_of_addend(const Tensor& addend, const Tensor& other, const Tensor& relevance) {
  return map(
      [](auto x, auto y, auto r) {
        using T = decltype(x);
        const auto above = [](T z) { return z > 0 ? z : T{0}; };
        const auto below = [](T z) { return z > 0 ? T{0} : z; };
        return share_of(x, rates_of<T>(r, {above(x) + above(y), below(x) + below(y)}));
      },
      addend, other, relevance);
}

}  // namespace

Tensor through_linear(const Tensor& x, std::span<const LinearReader> readers) {
  const Tensor rows = as_rows(x);
  Tensor shares = Tensor::zeros(rows.shape(), x.dtype());
  std::vector<double> totals(rows.dim(0), 0.0);
  for (const LinearReader& reader : readers) {
    const Tensor relevance = as_rows(reader.relevance);
    with_float_type(x.dtype(), [&](auto zero) {
      share_linear<decltype(zero)>(*reader.weights, rows, relevance, shares);
    });
    const std::vector<double> sums = sample_sums(relevance);
    for (size_t row = 0; row < totals.size(); ++row) totals[row] += sums[row];
  }
  return rescaled(shares, totals).reshape(x.shape());
}

Tensor through_layer_norm(const LayerNormWeights& weights, const Tensor& x,
                          const Tensor& relevance) {
  const Tensor rows = as_rows(x), sent = as_rows(relevance);
  Tensor shares = Tensor::zeros(rows.shape(), x.dtype());
  const int64_t columns = rows.dim(1);
  with_float_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = shares.mutable_data<T>();
    parallel_for(rows.dim(0), 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        pulse();
        LayerNormRow<T>(weights, rows.data<T>() + row * columns, columns)
            .share(sent.data<T>() + row * columns, to + row * columns);
      }
    });
  });
  return rescaled(shares, sample_sums(sent)).reshape(x.shape());
}

// Rows are scaled for both addends together; then each addend to its own sum, which only the ε of
// rescaling() changes.
Addends through_add(const Tensor& a, const Tensor& b, const Tensor& relevance) {
  const Tensor sent = as_rows(relevance);
  Tensor shares[2] = {share_of_addend(as_rows(a), as_rows(b), sent),
                      share_of_addend(as_rows(b), as_rows(a), sent)};
  std::vector<double> factors = sample_sums(sent);
  const std::vector<double> first = sample_sums(shares[0]), second = sample_sums(shares[1]);
  for (size_t row = 0; row < factors.size(); ++row) {
    factors[row] = rescaling(factors[row], first[row] + second[row]);
  }
  for (Tensor& share : shares) {
    share = scale_samples(share, factors);
    share = times(share, rescaling(total(share), total(share)));
  }
  return {shares[0].reshape(a.shape()), shares[1].reshape(b.shape())};
}

}  // namespace whyformer::voita
