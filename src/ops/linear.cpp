#include <fmt/format.h>

#include "ops/helpers.h"
#include "ops/ops.h"

namespace whyformer {
namespace {

// Plain product of rows with a constant matrix, for double: c = a·b (+ bias).
void multiply_plain(const Tensor& rows, MatrixView<const double> b, const Tensor& bias,
                    Tensor& result) {
  const int64_t count = rows.dim(0);
  double* c = result.mutable_data<double>();
  for (int64_t i = 0; bias.defined() && i < result.size(); ++i) {
    c[i] = bias.data<double>()[i % b.columns];
  }
  ProductStack<double> product;
  product.a = {rows.data<double>(), count, b.rows, b.rows, 1};
  product.b = b;
  product.c = {c, count, b.columns, b.columns, 1};
  product.accumulate = bias.defined();
  multiply_stack(product);
}

// y = x·Wᵀ + bias, dx = dy·W.
class Linear final : public Op {
 public:
  explicit Linear(std::shared_ptr<const LinearWeights> weights) : weights_(std::move(weights)) {}

  std::string_view kind() const override { return "Linear"; }

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    const int64_t columns = inputs[0].shape.back();
    if (columns != weights_->in_features()) {
      throw InvalidInput(fmt::format("the input has {} columns but the weight takes {}", columns,
                                     weights_->in_features()));
    }
    Shape shape = inputs[0].shape;
    shape.back() = weights_->out_features();
    return {{shape, inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{apply(inputs[0], weights_->out_features(), weights_->bias(), Direction::kForward)},
            {}};
  }

  Tensors gradient(const Call&, TensorSpan dy, const Wanted&) const override {
    return {apply(dy[0], weights_->in_features(), {}, Direction::kBackward)};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    // The last axis is a new one: features of another space.
    if (axis == static_cast<int>(inputs[0].shape.size()) - 1) return std::nullopt;
    return same_axis(axis);
  }

  const LinearWeights* linear_weights() const override { return weights_.get(); }

 private:
  enum class Direction { kForward, kBackward };

  Tensor apply(const Tensor& x, int64_t columns, const Tensor& bias, Direction direction) const {
    const int64_t depth = x.dim(-1);
    const Tensor rows = x.contiguous().reshape({row_count(x), depth});
    Shape shape = x.shape();
    shape.back() = columns;
    Tensor result = Tensor::empty(shape, x.dtype());
    if (x.dtype() == DType::kFloat32) {
      const PackedMatrix& panels = direction == Direction::kForward ? weights_->forward_panels()
                                                                    : weights_->backward_panels();
      multiply_packed(rows.data<float>(), rows.dim(0), depth, panels,
                      result.mutable_data<float>(), columns,
                      {.bias = bias.defined() ? bias.data<float>() : nullptr});
    } else {
      const double* w = weights_->weight().data<double>();
      const int64_t in = weights_->in_features();
      const MatrixView<const double> b = direction == Direction::kForward
                                             ? MatrixView<const double>{w, depth, columns, 1, in}
                                             : MatrixView<const double>{w, depth, columns, in, 1};
      multiply_plain(rows, b, bias, result);
    }
    return result;
  }

  std::shared_ptr<const LinearWeights> weights_;
};

}  // namespace

Value linear(GraphBuilder& graph, Value x, std::shared_ptr<const LinearWeights> weights,
             std::string name) {
  return graph.add(std::make_shared<Linear>(std::move(weights)), {x}, std::move(name));
}

}  // namespace whyformer
