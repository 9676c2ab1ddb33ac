#include "ops/arithmetic.h"
#include "ops/broadcast_map.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// Each element from one of two tensors. What was not taken gets exactly 0, whatever it is.
class WhereOp final : public ops::Where {
 public:
  std::vector<ValueType> infer(ValueTypes inputs) const override {
    if (inputs[0].dtype != DType::kInt64) {
      throw InvalidInput("the condition must be truth values but is floating-point numbers");
    }
    check_same_type(inputs[1], inputs[2]);
    return {{shape_of(inputs[0].shape, inputs[1].shape, inputs[2].shape), inputs[1].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Shape shape = shape_of(inputs[0].shape(), inputs[1].shape(), inputs[2].shape());
    return with_number_type(inputs[1].dtype(), [&](auto zero) {
      using T = decltype(zero);
      return Forward{
          {broadcast_map<T>([](int64_t c, T yes, T no) { return c != 0 ? yes : no; }, shape,
                            as<int64_t>(inputs[0]), as<T>(inputs[1]), as<T>(inputs[2]))},
          {}};
    });
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted& wanted) const override {
    Tensors results(3);
    if (call.input_types[1].dtype == DType::kInt64) return results;
    for (size_t i = 1; i <= 2; ++i) {
      if (!wanted[i]) continue;
      const bool when = i == 1;
      results[i] = with_float_type(dy[0].dtype(), [&](auto zero) {
        using T = decltype(zero);
        return sum_to(broadcast_map<T>([=](int64_t c, T d) { return (c != 0) == when ? d : T{0}; },
                                       dy[0].shape(), as<int64_t>(call.inputs[0]), as<T>(dy[0])),
                      call.input_types[i].shape);
      });
    }
    return results;
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape output = shape_of(inputs[0].shape, inputs[1].shape, inputs[2].shape);
    AxisFlow flow;
    for (const ValueType& input : inputs) {
      flow.sources.push_back(broadcast_source(axis, output, input.shape));
    }
    return flow;
  }

 private:
  static Shape shape_of(const Shape& condition, const Shape& yes, const Shape& no) {
    return broadcast(condition, broadcast(yes, no));
  }
};

}  // namespace

Value where(GraphBuilder& graph, Value condition, Value yes, Value no, std::string name) {
  return graph.add(std::make_shared<WhereOp>(), {condition, yes, no}, std::move(name));
}

}  // namespace whyformer
