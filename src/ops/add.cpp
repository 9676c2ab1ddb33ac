#include "base/parallel.h"
#include "ops/helpers.h"
#include "ops/ops.h"

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

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape output = broadcast(inputs[0].shape, inputs[1].shape);
    return AxisFlow{{broadcast_source(axis, output, inputs[0].shape),
                     broadcast_source(axis, output, inputs[1].shape)},
                    true};
  }
};

}  // namespace

Value add(GraphBuilder& graph, Value a, Value b, std::string name) {
  return graph.add(std::make_shared<Add>(), {a, b}, std::move(name));
}

}  // namespace whyformer
