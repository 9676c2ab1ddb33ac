#include "graph/op.h"

#include "whyformer/error.h"

namespace whyformer {
namespace {

// R / f, 0 where f is 0.
template <typename T>
Tensor stabilised_ratio(const Tensor& relevance, const Tensor& output, double stabiliser) {
  const Tensor r = relevance.contiguous();
  const Tensor f = output.contiguous();
  Tensor ratio = Tensor::empty(f.shape(), f.dtype());
  T* out = ratio.mutable_data<T>();
  for (int64_t i = 0; i < f.size(); ++i) {
    const T value = f.data<T>()[i];
    out[i] = value == 0 ? 0 : r.data<T>()[i] / (value + static_cast<T>(stabiliser));
  }
  return ratio;
}

template <typename T>
Tensor product(const Tensor& a, const Tensor& b) {
  const Tensor left = a.contiguous();
  const Tensor right = b.contiguous();
  Tensor result = Tensor::empty(a.shape(), a.dtype());
  T* out = result.mutable_data<T>();
  for (int64_t i = 0; i < left.size(); ++i) out[i] = left.data<T>()[i] * right.data<T>()[i];
  return result;
}

}  // namespace

Tensors Op::relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                      const Wanted& wanted) const {
  Tensors ratios;
  for (size_t i = 0; i < relevance.size(); ++i) {
    if (!relevance[i].defined()) {
      ratios.emplace_back();
    } else if (relevance[i].dtype() == DType::kFloat32) {
      ratios.push_back(stabilised_ratio<float>(relevance[i], call.outputs[i], rule.stabiliser));
    } else {
      ratios.push_back(stabilised_ratio<double>(relevance[i], call.outputs[i], rule.stabiliser));
    }
  }
  Tensors shares = gradient(call, ratios, wanted);
  for (size_t i = 0; i < shares.size(); ++i) {
    if (!shares[i].defined()) continue;
    shares[i] = shares[i].dtype() == DType::kFloat32 ? product<float>(shares[i], call.inputs[i])
                                                     : product<double>(shares[i], call.inputs[i]);
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
