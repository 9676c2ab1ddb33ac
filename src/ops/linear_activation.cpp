#include "ops/linear_activation.h"

#include "kernels/elementwise.h"
#include "ops/layers.h"

namespace whyformer {
namespace {

class LinearActivation final : public OpPair {
 public:
  LinearActivation(std::shared_ptr<const Op> linear, std::shared_ptr<const LinearWeights> weights,
                   std::shared_ptr<const Op> activation)
      : linear_(std::move(linear)),
        weights_(std::move(weights)),
        activation_(std::move(activation)) {}

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    if (inputs[0].dtype() != DType::kFloat32) {
      Tensors between = linear_->forward(inputs, keep).outputs;
      return activation_->forward(between, keep);
    }
    const ActivationFunction f = op_as<ops::Activation>(*activation_)->function();
    const int64_t width = weights_->out_features();
    Tensor slope;
    if (keep == KeepForBackward::kYes) {
      Shape shape = inputs[0].shape();
      shape.back() = width;
      slope = Tensor::empty(shape);
    }
    float* slopes = slope.defined() ? slope.mutable_data<float>() : nullptr;
    const Tensor y = weights_->apply_then(inputs[0], [&](float* out, const ProductPart& part) {
      for (int64_t row = part.first_row; row < part.first_row + part.rows; ++row) {
        const int64_t at = row * width + part.first_column;
        activate(f, out + at, out + at, slopes != nullptr ? slopes + at : nullptr, part.columns);
      }
    });
    return {{y}, {slope}};
  }

 private:
  std::shared_ptr<const Op> linear_;
  std::shared_ptr<const LinearWeights> weights_;
  std::shared_ptr<const Op> activation_;
};

}  // namespace

std::shared_ptr<const OpPair> linear_activation(std::shared_ptr<const Op> linear,
                                                std::shared_ptr<const LinearWeights> weights,
                                                std::shared_ptr<const Op> activation) {
  return std::make_shared<LinearActivation>(std::move(linear), std::move(weights),
                                            std::move(activation));
}

}  // namespace whyformer
