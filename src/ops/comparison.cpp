#include "ops/comparison.h"

#include "ops/broadcast_map.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

struct Equal {
  static constexpr std::string_view kKind = "Equal";
  static constexpr auto of = [](auto a, auto b) { return a == b; };
};
struct Less {
  static constexpr std::string_view kKind = "Less";
  static constexpr auto of = [](auto a, auto b) { return a < b; };
};
struct LessOrEqual {
  static constexpr std::string_view kKind = "LessOrEqual";
  static constexpr auto of = [](auto a, auto b) { return a <= b; };
};
struct Greater {
  static constexpr std::string_view kKind = "Greater";
  static constexpr auto of = [](auto a, auto b) { return a > b; };
};
struct GreaterOrEqual {
  static constexpr std::string_view kKind = "GreaterOrEqual";
  static constexpr auto of = [](auto a, auto b) { return a >= b; };
};
struct And {
  static constexpr std::string_view kKind = "And";
  static constexpr auto of = [](auto a, auto b) { return a != 0 && b != 0; };
};
struct Or {
  static constexpr std::string_view kKind = "Or";
  static constexpr auto of = [](auto a, auto b) { return a != 0 || b != 0; };
};
struct Xor {
  static constexpr std::string_view kKind = "Xor";
  static constexpr auto of = [](auto a, auto b) { return (a != 0) != (b != 0); };
};

// 1 where it holds, else 0; no gradient.
template <typename F>
class Comparison final : public Op {
 public:
  std::string_view kind() const override { return F::kKind; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], inputs[1]);
    return {{broadcast(inputs[0].shape, inputs[1].shape), DType::kInt64}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Shape shape = broadcast(inputs[0].shape(), inputs[1].shape());
    return with_number_type(inputs[0].dtype(), [&](auto zero) {
      using T = decltype(zero);
      return Forward{{broadcast_map<int64_t>(F::of, shape, as<T>(inputs[0]), as<T>(inputs[1]))},
                     {}};
    });
  }

  Tensors gradient(const Call&, TensorSpan, const Wanted&) const override { return Tensors(2); }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape output = broadcast(inputs[0].shape, inputs[1].shape);
    return AxisFlow{{broadcast_source(axis, output, inputs[0].shape),
                     broadcast_source(axis, output, inputs[1].shape)},
                    true};
  }
};

std::shared_ptr<const Op> op_of(BinaryFunction f) {
  switch (f) {
    case BinaryFunction::kEqual:
      return std::make_shared<Comparison<Equal>>();
    case BinaryFunction::kLess:
      return std::make_shared<Comparison<Less>>();
    case BinaryFunction::kLessOrEqual:
      return std::make_shared<Comparison<LessOrEqual>>();
    case BinaryFunction::kGreater:
      return std::make_shared<Comparison<Greater>>();
    case BinaryFunction::kGreaterOrEqual:
      return std::make_shared<Comparison<GreaterOrEqual>>();
    case BinaryFunction::kAnd:
      return std::make_shared<Comparison<And>>();
    case BinaryFunction::kOr:
      return std::make_shared<Comparison<Or>>();
    case BinaryFunction::kXor:
      return std::make_shared<Comparison<Xor>>();
    default:
      throw Error("this function of two values is no comparison");
  }
}

}  // namespace

Value compare(GraphBuilder& graph, Value a, Value b, BinaryFunction f, std::string name) {
  return graph.add(op_of(f), {a, b}, std::move(name));
}

}  // namespace whyformer
