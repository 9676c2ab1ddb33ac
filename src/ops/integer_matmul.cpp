#include <fmt/format.h>

#include <algorithm>

#include "base/parallel.h"
#include "ops/helpers.h"
#include "ops/integer_weights.h"
#include "ops/layers.h"
#include "ops/linear_relevance.h"
#include "ops/quantised.h"

namespace whyformer {
namespace {

// A Linear of whole numbers.
class IntegerLinearOp final : public ops::Linear {
 public:
  explicit IntegerLinearOp(std::shared_ptr<const IntegerWeights> weights)
      : weights_(std::move(weights)) {}

  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], {{}, weights_->linear().dtype()});
    const Shape& shape = inputs[0].shape;
    if (shape.empty() || shape.back() != weights_->linear().in_features()) {
      throw InvalidInput(fmt::format("a has shape {} but b has {} rows", to_string(shape),
                                     weights_->linear().in_features()));
    }
    return {{output_shape(shape), inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    const Tensor& x = inputs[0];
    const Tensor rows = x.contiguous().reshape({row_count(x), x.dim(-1)});
    return {{weights_->apply(rows).reshape(output_shape(x.shape()))}, {}};
  }

  Tensors gradient(const Call&, TensorSpan dy, const Wanted&) const override {
    return {weights_->linear().apply(dy[0], Direction::kBackward)};
  }

  Tensors relevance(const Call& call, TensorSpan relevance, const Rule& rule,
                    const Wanted&) const override {
    return {
        linear_relevance(weights_->linear(), call.inputs[0], call.outputs[0], relevance[0], rule)};
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    if (axis == static_cast<int>(inputs[0].shape.size()) - 1) return std::nullopt;
    return same_axis(axis);
  }

  const LinearWeights& weights() const override { return weights_->linear(); }
  const std::shared_ptr<const IntegerWeights>& integer_weights() const { return weights_; }

 private:
  Shape output_shape(Shape shape) const {
    shape.back() = weights_->linear().out_features();
    return shape;
  }

  std::shared_ptr<const IntegerWeights> weights_;
};

// c = a·b over the last two axes, summed in parts that are exact.
class IntegerProductOp final : public ops::MatMul {
 public:
  std::vector<ValueType> infer(ValueTypes inputs) const override {
    check_same_type(inputs[0], inputs[1]);
    with_float_type(inputs[0].dtype, [](auto) {});
    return {{product_shape(inputs[0].shape, inputs[1].shape), inputs[0].dtype}};
  }

  Forward forward(std::span<Tensor> inputs, KeepForBackward) const override {
    return {{exact_product(inputs[0], inputs[1])}, {}};
  }

  BackwardNeeds backward_needs() const override { return {.inputs = true}; }

  Tensors gradient(const Call& call, TensorSpan dc, const Wanted& wanted) const override {
    const Tensor &a = call.inputs[0], &b = call.inputs[1];
    Tensors results(2);
    if (wanted[0]) results[0] = sum_to(exact_product(dc[0], b.transpose(-1, -2)), a.shape());
    if (wanted[1]) results[1] = sum_to(exact_product(a.transpose(-1, -2), dc[0]), b.shape());
    return results;
  }

  std::optional<AxisFlow> follow(int axis, ValueTypes inputs) const override {
    const Shape &a = inputs[0].shape, &b = inputs[1].shape;
    const Shape shape = product_shape(a, b);
    const int rank = static_cast<int>(shape.size());
    if (axis == rank - 2) return AxisFlow{{static_cast<int>(a.size()) - 2, -1}, true};
    if (axis == rank - 1) return AxisFlow{{-1, static_cast<int>(b.size()) - 1}, true};
    return AxisFlow{{broadcast_source(axis, shape, a), broadcast_source(axis, shape, b)}, true};
  }

 private:
  static Shape product_shape(const Shape& a, const Shape& b) {
    if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) {
      throw InvalidInput(
          fmt::format("shapes {} and {} have no matrix product", to_string(a), to_string(b)));
    }
    Shape shape = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
    shape.push_back(a[a.size() - 2]);
    shape.push_back(b.back());
    return shape;
  }

  static Tensor exact_product(const Tensor& a, const Tensor& b) {
    const Shape shape = product_shape(a.shape(), b.shape());
    const auto stacked = [&](const Tensor& t) {
      Shape whole(shape.begin(), shape.end() - 2);
      const int64_t stack = element_count(whole);
      whole.push_back(t.dim(-2));
      whole.push_back(t.dim(-1));
      return t.expand(whole).contiguous().reshape({stack, t.dim(-2), t.dim(-1)});
    };
    return with_float_type(a.dtype(), [&](auto type) {
      return multiplied<decltype(type)>(stacked(a), stacked(b)).reshape(shape);
    });
  }

  template <typename T>
  static Tensor multiplied(const Tensor& a, const Tensor& b) {
    const int64_t rows = a.dim(1), depth = a.dim(2), columns = b.dim(2);
    const int64_t size = a.dim(0) * rows * columns;
    std::vector<double> sums(size, 0.0);
    Tensor result = Tensor::zeros({a.dim(0), rows, columns}, a.dtype());
    T* out = result.mutable_data<T>();
    for (int64_t first = 0; first < depth; first += kExactTerms) {
      const int64_t count = std::min(kExactTerms, depth - first);
      ProductStack<T> stack;
      stack.outer = a.dim(0);
      stack.a = {a.data<T>() + first, rows, count, depth, 1};
      stack.b = {b.data<T>() + first * columns, count, columns, columns, 1};
      stack.c = {out, rows, columns, columns, 1};
      stack.a_outer = rows * depth;
      stack.b_outer = depth * columns;
      stack.c_outer = rows * columns;
      multiply_stack(stack);
      if (depth <= kExactTerms) return result;
      parallel_for(size, 16384, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) sums[i] += out[i];
      });
    }
    std::transform(sums.begin(), sums.end(), out, [](double sum) { return static_cast<T>(sum); });
    return result;
  }
};

bool is_nothing(const GraphBuilder& graph, Value zero) {
  if (!zero.valid()) return true;
  const Tensor* known = graph.known(zero);
  if (known == nullptr) return false;
  const std::vector<double> numbers = known->to_doubles();
  return std::all_of(numbers.begin(), numbers.end(), [](double number) { return number == 0; });
}

Value centred(GraphBuilder& graph, Value x, Value zero, int axis, const std::string& name) {
  return is_nothing(graph, zero) ? x : dequantise(graph, x, Value{}, zero, axis, name);
}

}  // namespace

std::shared_ptr<const IntegerWeights> integer_weights_of(const Op& op) {
  const auto* linear = dynamic_cast<const IntegerLinearOp*>(&op);
  return linear != nullptr ? linear->integer_weights() : nullptr;
}

Value integer_linear(GraphBuilder& graph, Value a, std::shared_ptr<const IntegerWeights> weights,
                     Value a_zero, std::string name) {
  const int rows = static_cast<int>(graph.shape(a).size()) - 2;
  a = centred(graph, a, a_zero, rows, name);
  return graph.add(std::make_shared<IntegerLinearOp>(std::move(weights)), {a}, std::move(name));
}

Value integer_matmul(GraphBuilder& graph, Value a, Value b, Value a_zero, Value b_zero,
                     std::string name) {
  const auto axis_from_end = [&](Value x, int back) {
    return static_cast<int>(graph.shape(x).size()) - back;
  };
  a = centred(graph, a, a_zero, axis_from_end(a, 2), name);
  b = centred(graph, b, b_zero, axis_from_end(b, 1), name);
  const Tensor* matrix = graph.known(b);
  if (matrix != nullptr && matrix->rank() == 2) {
    const auto weights = std::make_shared<IntegerWeights>(matrix->transpose(0, 1));
    return graph.add(std::make_shared<IntegerLinearOp>(weights), {a}, std::move(name));
  }
  return graph.add(std::make_shared<IntegerProductOp>(), {a, b}, std::move(name));
}

}  // namespace whyformer
