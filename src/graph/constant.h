// A value that is part of the model.
#pragma once

#include <utility>

#include "graph/op.h"

namespace whyformer {

class Constant : public NamedOp<"Constant"> {
 public:
  explicit Constant(Tensor tensor) : tensor_(std::move(tensor)) {}

  const Tensor& tensor() const { return tensor_; }

  std::vector<ValueType> infer(ValueTypes) const override {
    return {{tensor_.shape(), tensor_.dtype()}};
  }
  Forward forward(std::span<Tensor>, KeepForBackward) const override { return {{tensor_}, {}}; }
  Tensors gradient(const Call&, TensorSpan, const Wanted&) const override { return {}; }
  std::optional<AxisFlow> follow(int, ValueTypes) const override { return std::nullopt; }

 private:
  Tensor tensor_;
};

// What a constant holds; null for every other operator.
inline const Tensor* constant_value(const Op& op) {
  const auto* constant = op_as<Constant>(op);
  return constant == nullptr ? nullptr : &constant->tensor();
}

}  // namespace whyformer
