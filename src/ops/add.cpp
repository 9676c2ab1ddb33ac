#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/broadcast_op.h"
#include "ops/layers.h"
#include "tensor/map.h"

namespace whyformer {
namespace {

// y = a ± b; da = dy and db = ±dy, summed over broadcast axes.
template <class Type>
class SumOp final : public BroadcastOp<Type> {
 public:
  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    Tensors results(2);
    if (call.input_types[0].dtype == DType::kInt64) return results;
    for (size_t i = 0; i < 2; ++i) {
      if (wanted[i]) results[i] = sum_to(dy[0], call.input_types[i].shape);
    }
    if (wanted[1] && kSubtracts) {
      results[1] = map([](auto d) { return -d; }, results[1]);
    }
    return results;
  }

  // Proportional shares. Rescaled (Chefer et al., CVPR 2021, eq. 10): each addend's total keeps the
  // sign of the whole and stays below it, sample by sample.
  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted& wanted) const override {
    if (rule.kind != RuleKind::kProportional) return Op::relevance(call, relevance, rule, wanted);
    const Tensor& r = relevance[0];
    const Tensor s =
        map([&](auto a, auto b) { return rule.stabiliser.ratio(a, b); }, r, call.outputs[0]);
    Tensors shares(2);
    for (size_t i = 0; i < 2; ++i) {
      if (!wanted[i] && !rule.rescale) continue;
      const int sign = i == 1 && kSubtracts ? -1 : 1;
      shares[i] = map([sign](auto x, auto ratio) { return x * ratio * sign; },
                      call.inputs[i].expand(r.shape()), s);
    }
    if (rule.rescale) rescale(shares, sample_sums(r), rule.stabiliser);
    for (size_t i = 0; i < 2; ++i) {
      shares[i] = wanted[i] ? sum_to(shares[i], call.input_types[i].shape) : Tensor();
    }
    return shares;
  }

 private:
  static constexpr bool kSubtracts = std::is_same_v<Type, ops::Sub>;

  void compute(Tensor& sum, const Tensor& a, const Tensor& b) const override {
    switch (sum.dtype()) {
      case DType::kFloat32:
        add_as<float, float>(sum, a, b);
        break;
      case DType::kFloat64:
        add_as<double, double>(sum, a, b);
        break;
      // Integers wrap around.
      case DType::kInt64:
        add_as<int64_t, uint64_t>(sum, a, b);
        break;
    }
  }

  // Arithmetic in U; the fused loop where nothing is broadcast or subtracted.
  template <typename T, typename U>
  void add_as(Tensor& sum, const Tensor& a, const Tensor& b) const {
    if constexpr (std::is_same_v<T, float>) {
      if (!kSubtracts && a.shape() == b.shape() && a.is_contiguous() && b.is_contiguous()) {
        float* out = sum.mutable_data<float>();
        parallel_for(sum.size(), 16384, [&](int64_t begin, int64_t end) {
          whyformer::add(a.data<float>() + begin, b.data<float>() + begin, out + begin,
                         end - begin);
        });
        return;
      }
    }
    if (!kSubtracts) {
      broadcast_into<T>(
          sum, [](T x, T y) { return static_cast<U>(x) + static_cast<U>(y); }, as<T>(a), as<T>(b));
    } else {
      broadcast_into<T>(
          sum, [](T x, T y) { return static_cast<U>(x) - static_cast<U>(y); }, as<T>(a), as<T>(b));
    }
  }

  static void rescale(Tensors& shares, const std::vector<double>& totals,
                      const Stabiliser& stabiliser) {
    std::vector<double> sums[2] = {sample_sums(shares[0]), sample_sums(shares[1])};
    for (size_t i = 0; i < 2; ++i) {
      std::vector<double> factors;
      for (size_t sample = 0; sample < totals.size(); ++sample) {
        const double part = std::abs(sums[i][sample]);
        const double both = std::abs(sums[0][sample]) + std::abs(sums[1][sample]);
        const double wanted = stabiliser.ratio(part, both) * totals[sample];
        factors.push_back(stabiliser.ratio(wanted, sums[i][sample]));
      }
      const bool unchanged =
          std::all_of(factors.begin(), factors.end(), [](double factor) { return factor == 1; });
      if (!unchanged) shares[i] = scale_samples(shares[i], factors);
    }
  }
};

}  // namespace

Value add(GraphBuilder& graph, Value a, Value b, std::string name) {
  return graph.add(std::make_shared<SumOp<ops::Add>>(), {a, b}, std::move(name));
}

Value subtract(GraphBuilder& graph, Value a, Value b, std::string name) {
  return graph.add(std::make_shared<SumOp<ops::Sub>>(), {a, b}, std::move(name));
}

}  // namespace whyformer
