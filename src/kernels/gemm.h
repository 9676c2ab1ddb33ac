// Matrix products. Every result element is summed by one thread in a fixed order, so results do not
// depend on the number of threads, and a row of C depends only on that row of A (not on how many
// rows share the call).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace whyformer {

// A constant right-hand side B [depth, columns] of C = A·B, stored in the panels that the kernel of
// this processor reads. Packed once, shared by copies.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  // b[k * row_stride + n * column_stride]; so a weight stored [out, in] packs as B = Wᵀ with
  // row_stride 1, column_stride in, and as B = W with row_stride in, column_stride 1.
  PackedMatrix(const float* b, int64_t depth, int64_t columns, int64_t row_stride,
               int64_t column_stride);
  // Panels that are there already, as the other constructor writes them.
  PackedMatrix(std::shared_ptr<const float[]> panels, int64_t depth, int64_t columns,
               int64_t panel_columns)
      : depth_(depth),
        columns_(columns),
        panel_columns_(panel_columns),
        panels_(std::move(panels)) {}

  bool empty() const { return columns_ == 0; }
  int64_t depth() const { return depth_; }
  int64_t columns() const { return columns_; }
  const float* panels() const { return panels_.get(); }
  int64_t panel_columns() const { return panel_columns_; }

 private:
  int64_t depth_ = 0;
  int64_t columns_ = 0;
  int64_t panel_columns_ = 0;  // depends on the instruction set
  std::shared_ptr<const float[]> panels_;
};

// A part of C: rows and columns from there on.
struct ProductPart {
  int64_t first_row;
  int64_t rows;
  int64_t first_column;
  int64_t columns;
};

// What happens to each element of the product while it is still in registers or near caches.
struct WriteOut {
  const float* bias = nullptr;  // [columns], added to every row
  bool accumulate = false;      // add to what C holds instead of replacing it
  // Called, if set, for every part of C as soon as it is done, by the thread that did it.
  std::function<void(const ProductPart& part)> then = nullptr;
};

// C[m, columns] = A[m, depth]·B, rows of A and C `stride` elements apart, elements contiguous.
void multiply_packed(const float* a, int64_t rows, int64_t a_stride, const PackedMatrix& b,
                     float* c, int64_t c_stride, const WriteOut& write_out = {});

// A matrix somewhere in memory: element (i, j) at data[i * row_stride + j * column_stride].
template <typename T>
struct MatrixView {
  T* data;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;
};
template <typename T>
MatrixView<T> transposed(const MatrixView<T>& matrix) {
  return {matrix.data, matrix.columns, matrix.rows, matrix.column_stride, matrix.row_stride};
}

// A stack of products C[i] = scale · A[i]·B[i] over two outer axes (batch, heads), as attention
// needs them. Outer strides of A, B and C are in elements; 0 repeats the same matrix.
template <typename T>
struct ProductStack {
  int64_t outer = 1;
  int64_t inner = 1;
  MatrixView<const T> a, b;
  MatrixView<T> c;  // column_stride must be 1
  int64_t a_outer = 0, a_inner = 0;
  int64_t b_outer = 0, b_inner = 0;
  int64_t c_outer = 0, c_inner = 0;
  T scale = 1;
  bool accumulate = false;
  // Called, if set, for whole rows of C[item] as soon as they are done, by the thread that did
  // them.
  std::function<void(int64_t item, int64_t first_row, int64_t rows)> then = nullptr;
};
void multiply_stack(const ProductStack<float>& products);
void multiply_stack(const ProductStack<double>& products);  // plain loops, for checks in double

// One product C = A·B (+ C), in the calling thread.
void multiply_here(const MatrixView<const float>& a, const MatrixView<const float>& b,
                   const MatrixView<float>& c, bool accumulate = false);

// Elements of `from` [rows, columns] to the same places of `to`, whose columns are neighbours.
void copy_matrix(const MatrixView<const float>& from, const MatrixView<float>& to);

}  // namespace whyformer
