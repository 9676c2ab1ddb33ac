#include "ops/linear_weights.h"

namespace whyformer {

LinearWeights::LinearWeights(Tensor weight, Tensor bias)
    : weight_(weight.contiguous()),
      bias_(bias.defined() ? bias.contiguous() : Tensor()) {}

const PackedMatrix& LinearWeights::forward_panels() const {
  std::call_once(forward_once_, [this] {
    forward_ = PackedMatrix(weight_.data<float>(), in_features(), out_features(), 1, in_features());
  });
  return forward_;
}

const PackedMatrix& LinearWeights::backward_panels() const {
  std::call_once(backward_once_, [this] {
    backward_ = PackedMatrix(weight_.data<float>(), out_features(), in_features(), in_features(), 1);
  });
  return backward_;
}

}  // namespace whyformer
