#include "graph/op.h"

#include <fmt/format.h>

#include "tensor/map.h"
#include "whyformer/error.h"

namespace whyformer {

Tensors Op::relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                      const Wanted& wanted) const {
  Tensors shares(call.inputs.size());
  if (rule.kind == RuleKind::kStop) return shares;
  if (rule.kind == RuleKind::kIdentity && relevance[0].shape() == call.input_types[0].shape) {
    shares[0] = relevance[0];
    return shares;
  }
  if (rule.kind != RuleKind::kProportional && rule.kind != RuleKind::kGradient) {
    throw InvalidInput(
        fmt::format("the rule '{}' has no meaning for {}", name_of(rule.kind), kind()));
  }
  Tensors ratios;
  for (size_t i = 0; i < relevance.size(); ++i) {
    ratios.push_back(!relevance[i].defined()
                         ? Tensor()
                         : map([&](auto r, auto f) { return rule.stabiliser.ratio(r, f); },
                               relevance[i], call.outputs[i]));
  }
  shares = rule.kind == RuleKind::kGradient ? gradient(call, ratios, wanted)
                                            : linearised(call, ratios, wanted);
  for (size_t i = 0; i < shares.size(); ++i) {
    if (!shares[i].defined()) continue;
    const double factor = shares.size() == 2 ? rule.shares[i] : 1;
    if (factor == 0) {
      shares[i] = {};
      continue;
    }
    shares[i] =
        map([factor](auto share, auto x) { return share * x * static_cast<decltype(x)>(factor); },
            shares[i], call.inputs[i]);
  }
  return shares;
}

Tensor reuse_or_allocate(Tensor& input, const ValueType& output) {
  if (input.is_sole_owner() && input.is_contiguous() && input.dtype() == output.dtype &&
      input.shape() == output.shape) {
    return std::move(input);
  }
  return Tensor::empty(output.shape, output.dtype);
}

}  // namespace whyformer
