// What element-wise operators of two inputs share: their shapes are broadcast to one.
#pragma once

#include "ops/broadcast_map.h"
#include "ops/helpers.h"

namespace whyformer {

template <class Type>
class BroadcastOp : public Type {
 public:
  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], inputs[1]);
    return {{broadcast(inputs[0].shape, inputs[1].shape), inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const ValueType type{broadcast(inputs[0].shape(), inputs[1].shape()), inputs[0].dtype()};
    Tensor y = reuse_any_or_allocate(inputs, type);
    compute(y, inputs[0].defined() ? inputs[0] : y, inputs[1].defined() ? inputs[1] : y);
    return {{y}, {}};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape output = broadcast(inputs[0].shape, inputs[1].shape);
    return AxisFlow{{broadcast_source(axis, output, inputs[0].shape),
                     broadcast_source(axis, output, inputs[1].shape)},
                    true};
  }

 private:
  // y may be the memory of a or b.
  virtual void compute(Tensor& y, const Tensor& a, const Tensor& b) const = 0;
};

}  // namespace whyformer
