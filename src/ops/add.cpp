#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/helpers.h"
#include "ops/ops.h"
#include "tensor/map.h"

namespace whyformer {
namespace {

// y = a + b; da = dy and db = dy, summed over broadcast axes.
struct Add final : Op {
  std::string_view kind() const override { return "Add"; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    return {{broadcast(inputs[0].shape, inputs[1].shape), inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Shape shape = broadcast(inputs[0].shape(), inputs[1].shape());
    const Tensor b = inputs[1].expand(shape).contiguous();
    if (inputs[0].shape() != shape || !inputs[0].is_contiguous()) {
      inputs[0] = inputs[0].expand(shape).contiguous();
    }
    return with_float_type(b.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const T* left = inputs[0].data<T>();
      Tensor sum = reuse_or_allocate(inputs[0], {shape, b.dtype()});
      T* out = sum.mutable_data<T>();
      parallel_for(sum.size(), 16384, [&](int64_t begin, int64_t end) {
        add(left + begin, b.data<T>() + begin, out + begin, end - begin);
      });
      return Forward{{sum}, {}};
    });
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    Tensors results(2);
    for (size_t i = 0; i < 2; ++i) {
      if (wanted[i]) results[i] = sum_to(dy[0], call.input_types[i].shape);
    }
    return results;
  }

  // Proportional shares. Rescaled (Chefer et al., CVPR 2021, eq. 10): each addend's total keeps the
  // sign of the whole and stays below it, sample by sample.
  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted& wanted) const override {
    if (rule.kind != RuleKind::kProportional) return Op::relevance(call, relevance, rule, wanted);
    const Tensor& r = relevance[0];
    const Tensor s = map([&](auto a, auto b) { return rule.stabiliser.ratio(a, b); }, r,
                         call.outputs[0]);
    Tensors shares(2);
    for (size_t i = 0; i < 2; ++i) {
      if (!wanted[i] && !rule.rescale) continue;
      shares[i] = map([](auto x, auto ratio) { return x * ratio; },
                      call.inputs[i].expand(r.shape()), s);
    }
    if (rule.rescale) rescale(shares, sample_sums(r), rule.stabiliser);
    for (size_t i = 0; i < 2; ++i) {
      shares[i] = wanted[i] ? sum_to(shares[i], call.input_types[i].shape) : Tensor();
    }
    return shares;
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape output = broadcast(inputs[0].shape, inputs[1].shape);
    return AxisFlow{{broadcast_source(axis, output, inputs[0].shape),
                     broadcast_source(axis, output, inputs[1].shape)},
                    true};
  }

 private:
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
      const bool unchanged = std::all_of(factors.begin(), factors.end(),
                                         [](double factor) { return factor == 1; });
      if (!unchanged) shares[i] = scale_samples(shares[i], factors);
    }
  }
};

}  // namespace

Value add(GraphBuilder& graph, Value a, Value b, std::string name) {
  return graph.add(std::make_shared<Add>(), {a, b}, std::move(name));
}

}  // namespace whyformer
