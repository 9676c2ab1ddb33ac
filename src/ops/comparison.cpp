#include "ops/comparison.h"

#include "ops/broadcast_map.h"
#include "ops/helpers.h"

namespace whyformer {
namespace {

struct EqualFunction {
  using Type = ops::Equal;
  static constexpr auto of = [](auto a, auto b) { return a == b; };
};
struct LessFunction {
  using Type = ops::Less;
  static constexpr auto of = [](auto a, auto b) { return a < b; };
};
struct LessOrEqualFunction {
  using Type = ops::LessOrEqual;
  static constexpr auto of = [](auto a, auto b) { return a <= b; };
};
struct GreaterFunction {
  using Type = ops::Greater;
  static constexpr auto of = [](auto a, auto b) { return a > b; };
};
struct GreaterOrEqualFunction {
  using Type = ops::GreaterOrEqual;
  static constexpr auto of = [](auto a, auto b) { return a >= b; };
};
struct AndFunction {
  using Type = ops::And;
  static constexpr auto of = [](auto a, auto b) { return a != 0 && b != 0; };
};
struct OrFunction {
  using Type = ops::Or;
  static constexpr auto of = [](auto a, auto b) { return a != 0 || b != 0; };
};
struct XorFunction {
  using Type = ops::Xor;
  static constexpr auto of = [](auto a, auto b) { return (a != 0) != (b != 0); };
};

// 1 where it holds, else 0; no gradient.
template <typename F>
class ComparisonOp final : public F::Type {
 public:
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
      return std::make_shared<ComparisonOp<EqualFunction>>();
    case BinaryFunction::kLess:
      return std::make_shared<ComparisonOp<LessFunction>>();
    case BinaryFunction::kLessOrEqual:
      return std::make_shared<ComparisonOp<LessOrEqualFunction>>();
    case BinaryFunction::kGreater:
      return std::make_shared<ComparisonOp<GreaterFunction>>();
    case BinaryFunction::kGreaterOrEqual:
      return std::make_shared<ComparisonOp<GreaterOrEqualFunction>>();
    case BinaryFunction::kAnd:
      return std::make_shared<ComparisonOp<AndFunction>>();
    case BinaryFunction::kOr:
      return std::make_shared<ComparisonOp<OrFunction>>();
    case BinaryFunction::kXor:
      return std::make_shared<ComparisonOp<XorFunction>>();
    default:
      throw Error("this function of two values is no comparison");
  }
}

}  // namespace

Value compare(GraphBuilder& graph, Value a, Value b, BinaryFunction f, std::string name) {
  return graph.add(op_of(f), {a, b}, std::move(name));
}

}  // namespace whyformer
