#include "ops/attention_weights.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernels/rows.h"
#include "kernels/scratch.h"
#include "ops/layers.h"
#include "ops/product_stack.h"
#include "ops/softmax_rows.h"

namespace whyformer {
namespace {

// Rows of d_scores that are made at a time: they stay in the second-level cache until both of their
// products are done. A number that depends on their length alone keeps sums independent of threads.
int64_t rows_at_a_time(int64_t columns) {
  constexpr int64_t kFloats = 65536;
  return std::max<int64_t>(48, kFloats / std::max<int64_t>(1, columns));
}

template <typename T>
MatrixView<T> rows_of(const MatrixView<T>& matrix, int64_t first, int64_t rows) {
  return {matrix.data + first * matrix.row_stride, rows, matrix.columns, matrix.row_stride,
          matrix.column_stride};
}

void clear(const MatrixView<float>& matrix) {
  for (int64_t row = 0; row < matrix.rows; ++row) {
    std::fill_n(matrix.data + row * matrix.row_stride, matrix.columns, 0.0f);
  }
}

// Matrix `index` of a stack.
MatrixView<const float> matrix_of(const Tensor& stack, int64_t index) {
  const Tensor one = stack.select(0, index / stack.dim(1)).select(0, index % stack.dim(1));
  return {one.data<float>(), one.dim(0), one.dim(1), one.stride(0), one.stride(1)};
}

MatrixView<float> mutable_matrix_of(const Tensor& stack, int64_t index) {
  Tensor one = stack.select(0, index / stack.dim(1)).select(0, index % stack.dim(1));
  return {one.mutable_data<float>(), one.dim(0), one.dim(1), one.stride(0), one.stride(1)};
}

// The way back through one matrix of weights p = softmax(scale · a·b), a few rows of d_scores at a
// time: da = ds·bᵀ and dbᵀ = dsᵀ·a. Where nothing is wanted, `da` or `d_keys` has no data.
struct HeadGradient {
  MatrixView<const float> a, keys;  // keys = bᵀ
  MatrixView<const float> p, dp;
  MatrixView<float> da, d_keys;
  float scale;

  void run(Scratch& scores, Scratch& turned) const {
    const int64_t columns = p.columns;
    const int64_t most = std::min(rows_at_a_time(columns), p.rows);
    float* ds = scores.floats(most * columns);
    // dbᵀ the other way round: ds is then read as it lies.
    MatrixView<float> db{nullptr, a.columns, columns, columns, 1};
    if (d_keys.data != nullptr) db.data = turned.floats(a.columns * columns);
    const RowRange reached = rows_with_content(dp.data, dp.rows, columns);
    if (da.data != nullptr) {
      clear(rows_of(da, 0, reached.begin));
      clear(rows_of(da, reached.end, p.rows - reached.end));
    }
    if (d_keys.data != nullptr && reached.begin == reached.end) return clear(d_keys);
    for (int64_t row = reached.begin; row < reached.end; row += most) {
      const int64_t rows = std::min(most, reached.end - row);
      softmax_rows_gradient(p.data + row * columns, dp.data + row * columns, ds, rows, columns,
                            scale);
      const MatrixView<const float> d_scores{ds, rows, columns, columns, 1};
      if (da.data != nullptr) multiply_here(d_scores, keys, rows_of(da, row, rows));
      if (db.data != nullptr) {
        multiply_here(transposed(rows_of(a, row, rows)), d_scores, db, row > reached.begin);
      }
    }
    if (db.data == nullptr) return;
    const MatrixView<const float> sum{db.data, db.rows, db.columns, db.row_stride, 1};
    copy_matrix(transposed(sum), d_keys);
  }
};

class AttentionWeights final : public OpPair {
 public:
  AttentionWeights(std::shared_ptr<const Op> product, std::shared_ptr<const Op> softmax)
      : product_(std::move(product)),
        softmax_(std::move(softmax)),
        scale_(op_as<ops::Softmax>(*softmax_)->scale()) {}

  Forward forward(std::span<Tensor> inputs, KeepForBackward keep) const override {
    if (inputs[0].dtype() != DType::kFloat32) return one_after_the_other(inputs, keep);
    std::vector<ValueType> types;
    for (const Tensor& input : inputs) types.push_back({input.shape(), input.dtype()});
    const Shape shape = product_->infer({types.data(), 2})[0].shape;
    Tensor weights = Tensor::empty(shape);
    ProductStack<float> products = product_stack<float>(inputs[0], inputs[1], weights);
    const SoftmaxRows<float> softmax(inputs.size() > 2 ? inputs[2] : Tensor(), shape, scale_);
    float* out = weights.mutable_data<float>();
    const int64_t rows_of_item = products.c.rows, columns = products.c.columns;
    products.then = [&](int64_t item, int64_t first, int64_t rows) {
      const int64_t row = item * rows_of_item + first;
      softmax.apply(out + row * columns, out + row * columns, row, rows);
    };
    multiply_stack(products);
    return {{weights}, {}};
  }

  bool has_gradient() const override { return true; }

  Tensors gradient(const Call& call, TensorSpan dp, const Wanted& wanted) const override {
    const Tensor& a = call.inputs[0];
    const Tensor& b = call.inputs[1];
    if (!fits(a, b)) return one_after_the_other(call, dp, wanted);
    Tensors results(call.input_types.size());
    Tensor d_keys;
    if (wanted[0]) results[0] = Tensor::empty_like(a);
    if (wanted[1]) {
      d_keys = Tensor::empty_like(b.transpose(-1, -2));
      results[1] = d_keys.transpose(-1, -2);
    }
    const Tensor p = call.outputs[0].contiguous();
    const Tensor from = dp[0].contiguous();
    const Tensor stacks[] = {as_stack(a), as_stack(b.transpose(-1, -2)), as_stack(p),
                             as_stack(from)};
    const Tensor da = wanted[0] ? as_stack(results[0]) : Tensor();
    const Tensor dk = wanted[1] ? as_stack(d_keys) : Tensor();
    parallel_for(stacks[2].dim(0) * stacks[2].dim(1), 1, [&](int64_t begin, int64_t end) {
      static thread_local Scratch scores, turned;
      for (int64_t item = begin; item < end; ++item) {
        const HeadGradient head{
            .a = matrix_of(stacks[0], item),
            .keys = matrix_of(stacks[1], item),
            .p = matrix_of(stacks[2], item),
            .dp = matrix_of(stacks[3], item),
            .da = wanted[0] ? mutable_matrix_of(da, item) : MatrixView<float>{},
            .d_keys = wanted[1] ? mutable_matrix_of(dk, item) : MatrixView<float>{},
            .scale = static_cast<float>(scale_)};
        head.run(scores, turned);
      }
    });
    return results;
  }

 private:
  // Heads whose rows lie in one piece, none of them repeated; keys as rows too.
  static bool fits(const Tensor& a, const Tensor& b) {
    if (a.dtype() != DType::kFloat32 || a.rank() != b.rank() || a.size() == 0 || b.size() == 0)
      return false;
    for (int axis = 0; axis < a.rank() - 2; ++axis) {
      if (a.dim(axis) != b.dim(axis)) return false;
    }
    return a.stride(-1) == 1 && b.stride(-2) == 1;
  }

  Forward one_after_the_other(std::span<Tensor> inputs, KeepForBackward keep) const {
    Forward scores = product_->forward(inputs.first(2), keep);
    Tensors rest = std::move(scores.outputs);
    rest.insert(rest.end(), inputs.begin() + 2, inputs.end());
    return softmax_->forward(rest, keep);
  }

  Tensors one_after_the_other(const Call& call, TensorSpan dp, const Wanted& wanted) const {
    std::vector<ValueType> types = product_->infer(call.input_types.first(2));
    types.insert(types.end(), call.input_types.begin() + 2, call.input_types.end());
    Tensors unknown(types.size());
    Wanted first_only(types.size(), false);
    first_only[0] = true;
    const Tensors d_scores =
        softmax_->gradient({types, unknown, call.outputs, call.kept}, dp, first_only);
    Tensors results = product_->gradient({call.input_types.first(2), call.inputs.first(2), {}, {}},
                                         {d_scores.data(), 1}, {wanted[0], wanted[1]});
    results.resize(call.input_types.size());
    return results;
  }

  std::shared_ptr<const Op> product_, softmax_;
  double scale_;
};

}  // namespace

std::shared_ptr<const OpPair> attention_weights(std::shared_ptr<const Op> product,
                                                std::shared_ptr<const Op> softmax) {
  return std::make_shared<AttentionWeights>(std::move(product), std::move(softmax));
}

}  // namespace whyformer
