#include <fmt/format.h>

#include "graph/op_abilities.h"
#include "ops/attention_weights.h"
#include "ops/helpers.h"
#include "ops/layers.h"
#include "ops/product_stack.h"

namespace whyformer {
namespace {

void multiply_into(const Tensor& a, const Tensor& b, Tensor& c) {
  with_float_type(c.dtype(),
                  [&](auto zero) { multiply_stack(product_stack<decltype(zero)>(a, b, c)); });
}

// c = a·b, da = dc·bᵀ, db = aᵀ·dc, each gradient in the memory order of its operand.
class MatMulOp final : public ops::MatMul, public ChoosesOrder, public RunsWithReader {
 public:
  explicit MatMulOp(std::vector<int> order = {}) : order_(std::move(order)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], inputs[1]);
    with_float_type(inputs[0].dtype, [](auto) {});
    return {{product_shape(inputs[0].shape, inputs[1].shape), inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Shape shape = product_shape(inputs[0].shape(), inputs[1].shape());
    const DType type = inputs[0].dtype();
    Tensor c =
        order_.empty() ? Tensor::empty(shape, type) : Tensor::empty_in_order(shape, order_, type);
    multiply_into(inputs[0], inputs[1], c);
    return {{c}, {}};
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dc, const Wanted& wanted) const override {
    const Tensor& a = call.inputs[0];
    const Tensor& b = call.inputs[1];
    Tensors results(2);
    if (wanted[0]) results[0] = operand_gradient(dc[0], b.transpose(-1, -2), a);
    if (wanted[1]) results[1] = operand_gradient(a.transpose(-1, -2), dc[0], b);
    return results;
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape& a = inputs[0].shape;
    const Shape& b = inputs[1].shape;
    const Shape shape = product_shape(a, b);
    const int rank = static_cast<int>(shape.size());
    if (axis == rank - 2) return AxisFlow{{static_cast<int>(a.size()) - 2, -1}, true};
    if (axis == rank - 1) return AxisFlow{{-1, static_cast<int>(b.size()) - 1}, true};
    return AxisFlow{{broadcast_source(axis, shape, a), broadcast_source(axis, shape, b)}, true};
  }

  std::shared_ptr<const Op> written_for(const Op& reader) const override {
    const auto* transpose = op_as<ops::Transpose>(reader);
    return transpose == nullptr ? nullptr : in_order(transpose->order());
  }

  std::shared_ptr<const Op> in_order(const std::vector<int>& order) const override {
    // The kernel writes rows of contiguous columns.
    if (!order.empty() && order.back() != static_cast<int>(order.size()) - 1) return nullptr;
    return std::make_shared<MatMulOp>(order);
  }

  std::shared_ptr<const OpPair> followed_by(const std::shared_ptr<const Op>& next) const override {
    if (!is_a<ops::Softmax>(*next) || !order_.empty()) return nullptr;
    return attention_weights(std::make_shared<MatMulOp>(), next);
  }

 private:
  static Shape product_shape(const Shape& a, const Shape& b) {
    if (a.size() < 2 || b.size() < 2 || a.size() > 4 || b.size() > 4) {
      throw InvalidInput(fmt::format("operands must have 2 to 4 axes but have shapes {} and {}",
                                     to_string(a), to_string(b)));
    }
    if (a.back() != b[b.size() - 2]) {
      throw InvalidInput(
          fmt::format("a has {} columns but b has {} rows", a.back(), b[b.size() - 2]));
    }
    Shape shape = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    shape.push_back(a[a.size() - 2]);
    shape.push_back(b.back());
    return shape;
  }

  static Tensor operand_gradient(const Tensor& left, const Tensor& right, const Tensor& operand) {
    const Shape shape = product_shape(left.shape(), right.shape());
    if (shape == operand.shape() && operand.stride(-1) != 1 && operand.stride(-2) == 1) {
      // An operand that lies transposed in memory, as keys do, has its gradient lie so too.
      return operand_gradient(right.transpose(-1, -2), left.transpose(-1, -2),
                              operand.transpose(-1, -2))
          .transpose(-1, -2);
    }
    const bool rows_in_memory = shape == operand.shape() && operand.stride(-1) == 1;
    Tensor result =
        rows_in_memory ? Tensor::empty_like(operand) : Tensor::empty(shape, operand.dtype());
    multiply_into(left, right, result);
    return sum_to(result, operand.shape());
  }

  std::vector<int> order_;
};

}  // namespace

Value matmul(GraphBuilder& graph, Value a, Value b, std::string name) {
  return graph.add(std::make_shared<MatMulOp>(), {a, b}, std::move(name));
}

}  // namespace whyformer
