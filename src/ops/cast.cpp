#include <cmath>
#include <limits>

#include "ops/arithmetic.h"
#include "ops/broadcast_map.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

// Cut off towards 0; what no integer can hold becomes the nearest one, and what is not a number 0.
template <typename T>
int64_t cut_off(T x) {
  constexpr T kEnd = static_cast<T>(9223372036854775808.0);  // one past the largest
  if (x != x) return 0;
  if (x >= kEnd) return std::numeric_limits<int64_t>::max();
  if (x < -kEnd) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(x);
}

// Another element type; gradients pass between floats.
class CastOp final : public ops::Cast {
 public:
  CastOp(DType to, bool to_truth) : to_(to), to_truth_(to_truth) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    return {{inputs[0].shape, to_}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor& x = inputs[0];
    if (!to_truth_ && x.dtype() == to_) return {{x}, {}};
    if (!to_truth_ && to_ != DType::kInt64) return {{x.cast(to_)}, {}};
    return with_number_type(x.dtype(), [&](auto from) {
      using From = decltype(from);
      return with_number_type(to_, [&](auto to) {
        using To = decltype(to);
        const auto convert = [this](From v) -> To {
          if (to_truth_) return static_cast<To>(v != 0);
          if constexpr (std::is_floating_point_v<From>)
            return static_cast<To>(cut_off(v));
          else
            return static_cast<To>(v);
        };
        return Forward{{broadcast_map<To>(convert, x.shape(), as<From>(x))}, {}};
      });
    });
  }

  Tensors gradient(const Call& call, TensorSpan dy, const Wanted&) const override {
    const DType from = call.input_types[0].dtype;
    if (to_truth_ || from == DType::kInt64 || to_ == DType::kInt64) return Tensors(1);
    return {from == to_ ? dy[0] : dy[0].cast(from)};
  }

  bool moves_data() const override { return true; }

  std::optional<AxisFlow> follow(int axis, ValueTypes) const override { return same_axis(axis); }

 private:
  DType to_;
  bool to_truth_;
};

}  // namespace

Value cast(GraphBuilder& graph, Value x, DType to, bool to_truth, std::string name) {
  return graph.add(std::make_shared<CastOp>(to, to_truth), {x}, std::move(name));
}

}  // namespace whyformer
