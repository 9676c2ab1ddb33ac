#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "base/pulse.h"
#include "kernels/gemm.h"
#include "ops/helpers.h"
#include "studies/heads/voita_rules.h"
#include "studies/heads/voita_shares.h"

namespace whyformer::voita {
namespace {

// One head. Output o_c = Σ_j a_j v_jc of a query q reads
//   v_jc with impact a_j v_jc,
//   k_je with impact b_jc p_je, where b_jc = a_j (v_jc - o_c) and p_je = scale q_e k_je,
//   q_e  with impact q_e m_ce, where m_ce = scale Σ_j b_jc k_je.
// Sums of k's impacts over e need only the sums of p's positive and of its negative entries.
template <typename T>
class HeadShares {
 public:
  struct Rows {
    const T *q, *k, *v;                 // [tokens, width]
    T *q_shares, *k_shares, *v_shares;  // the same, zero at first
  };

  HeadShares(const Rows& rows, int64_t tokens, int64_t width, T scale, AttentionMaps maps)
      : rows_(rows),
        tokens_(tokens),
        width_(width),
        scale_(scale),
        maps_(maps),
        b_(tokens * width),
        p_(tokens * width),
        m_(width * width),
        above_(width),
        below_(width) {}

  void add(int64_t query, const T* attention, const T* relevance) {
    measure_values(attention);
    if (maps_ == AttentionMaps::kFunction) {
      prepare(query, attention);
      measure_keys();
      measure_query(query);
    }
    Rates rates;
    for (int64_t c = 0; c < width_; ++c) {
      rates.push_back(rates_of<T>(relevance[c], {above_[c], below_[c]}));
    }
    share_values(attention, rates);
    if (maps_ == AttentionMaps::kFunction) {
      share_keys(rates);
      share_query(query, rates);
    }
  }

 private:
  using Rates = std::vector<SignSums<T>>;  // of each output

  void count(int64_t c, T impact) {
    above_[c] += impact > 0 ? impact : 0;
    below_[c] += impact > 0 ? 0 : impact;
  }

  void measure_values(const T* attention) {
    std::fill(above_.begin(), above_.end(), T{0});
    std::fill(below_.begin(), below_.end(), T{0});
    for (int64_t j = 0; j < tokens_; ++j) {
      for (int64_t c = 0; c < width_; ++c) count(c, attention[j] * rows_.v[j * width_ + c]);
    }
  }

  // b, p and m of the query. What values contribute adds up to the output.
  void prepare(int64_t query, const T* attention) {
    for (int64_t j = 0; j < tokens_; ++j) {
      for (int64_t i = 0; i < width_; ++i) {
        const int64_t at = j * width_ + i;
        b_[at] = attention[j] * (rows_.v[at] - (above_[i] + below_[i]));
        p_[at] = scale_ * rows_.q[query * width_ + i] * rows_.k[at];
      }
    }
    ProductStack<T> product;
    product.a = {b_.data(), width_, tokens_, 1, width_};
    product.b = {rows_.k, tokens_, width_, width_, 1};
    product.c = {m_.data(), width_, width_, width_, 1};
    product.scale = scale_;
    multiply_stack(product);
  }

  void measure_keys() {
    for (int64_t j = 0; j < tokens_; ++j) {
      T above = 0, below = 0;
      for (int64_t e = 0; e < width_; ++e) {
        const T p = p_[j * width_ + e];
        (p > 0 ? above : below) += p;
      }
      for (int64_t c = 0; c < width_; ++c) {
        count(c, b_[j * width_ + c] * above);
        count(c, b_[j * width_ + c] * below);
      }
    }
  }

  void measure_query(int64_t query) {
    for (int64_t c = 0; c < width_; ++c) {
      for (int64_t e = 0; e < width_; ++e) {
        count(c, rows_.q[query * width_ + e] * m_[c * width_ + e]);
      }
    }
  }

  void share_values(const T* attention, const Rates& rates) {
    for (int64_t j = 0; j < tokens_; ++j) {
      for (int64_t c = 0; c < width_; ++c) {
        const int64_t at = j * width_ + c;
        rows_.v_shares[at] += share_of(attention[j] * rows_.v[at], rates[c]);
      }
    }
  }

  void share_keys(const Rates& rates) {
    for (int64_t j = 0; j < tokens_; ++j) {
      T where_positive = 0, where_negative = 0;  // of each unit of p, by its sign
      for (int64_t c = 0; c < width_; ++c) {
        const T b = b_[j * width_ + c];
        where_positive += b * (b > 0 ? rates[c].positive : rates[c].negative);
        where_negative += b * (b > 0 ? rates[c].negative : rates[c].positive);
      }
      for (int64_t e = 0; e < width_; ++e) {
        const T p = p_[j * width_ + e];
        rows_.k_shares[j * width_ + e] += p * (p > 0 ? where_positive : where_negative);
      }
    }
  }

  void share_query(int64_t query, const Rates& rates) {
    for (int64_t c = 0; c < width_; ++c) {
      for (int64_t e = 0; e < width_; ++e) {
        const int64_t at = query * width_ + e;
        rows_.q_shares[at] += share_of(rows_.q[at] * m_[c * width_ + e], rates[c]);
      }
    }
  }

  Rows rows_;
  int64_t tokens_, width_;
  T scale_;
  AttentionMaps maps_;
  std::vector<T> b_, p_, m_;
  std::vector<T> above_, below_;  // sums of the positive and negative impacts on each output
};

template <typename T>
void share_heads(const AttentionCall& call, const Tensor& relevance, AttentionMaps maps,
                 AttentionShares& shares) {
  const int64_t rows = call.attention.dim(1), tokens = call.q.dim(1), width = call.q.dim(2);
  T *q = shares.q.mutable_data<T>(), *k = shares.k.mutable_data<T>(),
    *v = shares.v.mutable_data<T>();
  parallel_for(call.q.dim(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t head = begin; head < end; ++head) {
      const int64_t at = head * tokens * width;
      HeadShares<T> sharing({call.q.data<T>() + at, call.k.data<T>() + at, call.v.data<T>() + at,
                             q + at, k + at, v + at},
                            tokens, width, static_cast<T>(call.scale), maps);
      for (int64_t row = 0; row < rows; ++row) {
        pulse();
        sharing.add(call.first_row + row, call.attention.data<T>() + (head * rows + row) * tokens,
                    relevance.data<T>() + (head * rows + row) * width);
      }
    }
  });
}

}  // namespace

AttentionShares through_attention(const AttentionCall& given, const Tensor& relevance_given,
                                  AttentionMaps maps) {
  const AttentionCall call{given.q.contiguous(),         given.k.contiguous(), given.v.contiguous(),
                           given.attention.contiguous(), given.first_row,      given.scale};
  const Tensor relevance = relevance_given.contiguous();
  const auto zeros = [&] { return Tensor::zeros(call.q.shape(), call.q.dtype()); };
  AttentionShares shares{zeros(), zeros(), zeros()};
  with_float_type(call.q.dtype(),
                  [&](auto zero) { share_heads<decltype(zero)>(call, relevance, maps, shares); });
  const std::vector<double> sums[3] = {sample_sums(shares.q), sample_sums(shares.k),
                                       sample_sums(shares.v)};
  std::vector<double> factors = sample_sums(relevance);
  for (size_t head = 0; head < factors.size(); ++head) {
    factors[head] = rescaling(factors[head], sums[0][head] + sums[1][head] + sums[2][head]);
  }
  for (Tensor* part : {&shares.q, &shares.k, &shares.v}) *part = scale_samples(*part, factors);
  const double factor =
      rescaling(total(relevance), total(shares.q) + total(shares.k) + total(shares.v));
  for (Tensor* part : {&shares.q, &shares.k, &shares.v}) *part = times(*part, factor);
  return shares;
}

}  // namespace whyformer::voita
