#include <algorithm>
#include <cmath>

#include "ops/helpers.h"
#include "ops/quantised.h"
#include "tensor/map.h"

namespace whyformer {
namespace {

// Unsigned 8 bits that span what x spans, 0 included: the whole of x decides scale and zero, which
// count as constants on the way back.
struct QuantiseDynamically final : Op {
  std::string_view kind() const override { return "DynamicQuantizeLinear"; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    with_float_type(inputs[0].dtype, [](auto) {});
    return {inputs[0], {{}, inputs[0].dtype}, {{}, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor x = inputs[0].contiguous();
    Tensor scale_tensor = Tensor::empty({}, x.dtype()), zero_tensor = Tensor::empty({}, x.dtype());
    const Tensor y = with_float_type(x.dtype(), [&](auto type) {
      using T = decltype(type);
      T least = 0, most = 0;
      for (int64_t i = 0; i < x.size(); ++i) {
        least = std::min(least, x.data<T>()[i]);
        most = std::max(most, x.data<T>()[i]);
      }
      const T scale = least == most ? T{1} : (most - least) / 255;
      const T zero = std::nearbyint(std::clamp(-least / scale, T{0}, T{255}));
      *scale_tensor.mutable_data<T>() = scale;
      *zero_tensor.mutable_data<T>() = zero;
      return map_as<T>([=](T v) {
        return std::clamp(std::nearbyint(v / scale) + zero, T{0}, T{255});
      }, x);
    });
    return {{y, scale_tensor, zero_tensor}, {}};
  }

  BackwardNeeds backward_needs() const override { return {.outputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    if (!dy[0].defined()) return {Tensor()};
    const double scale = call.outputs[1].to_doubles()[0];
    return {map([scale](auto d) { return d / static_cast<decltype(d)>(scale); }, dy[0])};
  }

  Tensors relevance(const Call&, TensorSpan relevance, const Rule& rule,
                    const Wanted&) const override {
    return {rule.kind == RuleKind::kStop ? Tensor() : relevance[0]};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override {
    return AxisFlow{{axis}, false};
  }
};

}  // namespace

std::vector<Value> quantise_dynamically(GraphBuilder& graph, Value x, std::string name) {
  return graph.add_all(std::make_shared<QuantiseDynamically>(), {x}, std::move(name));
}

}  // namespace whyformer
