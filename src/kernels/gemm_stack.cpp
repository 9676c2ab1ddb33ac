#include <fmt/format.h>

#include <functional>
#include <tuple>

#include "base/parallel.h"
#include "kernels/gemm.h"
#include "kernels/scratch.h"
#include "whyformer/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gemm_stack.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {

// Columns of B that are packed at a time: a chunk of them has to stay in the second-level cache.
constexpr int64_t kBlockColumns = 512;

struct StackScratch {
  Scratch a, b, c;
};

// One chunk of the depth of C = scale · A·B, for all rows and one block of columns.
void multiply_chunk(const MatrixView<const float>& a, const MatrixView<const float>& b,
                    const MatrixView<float>& c, float scale, bool add, StackScratch& scratch,
                    const RowsDone& done) {
  const int64_t panels = divide_up(b.columns, kPanelColumns);
  float* packed_b = scratch.b.floats(b.rows * panels * kPanelColumns);
  pack_panels(b.data, b.row_stride, b.column_stride, b.rows, b.columns, packed_b);
  const TileSplit tiles(a.rows, kTileRows);
  const int64_t row_blocks = divide_up(tiles.tiles(), kBlockRows / kTileRows);
  float* buffer = scratch.a.floats(kPackedRowsSize);
  for (int64_t i = 0; i < row_blocks; ++i) {
    const Range rows = tiles.rows_of_all(part_of(tiles.tiles(), row_blocks, i));
    multiply_block({.a = pack_rows(a.data + rows.begin * a.row_stride, a.row_stride,
                                   a.column_stride, rows.size(), a.columns, buffer),
                    .panels = packed_b,
                    .panel_count = panels,
                    .depth = b.rows,
                    .panels_after = packed_b,
                    .out = {.c = c.data + rows.begin * c.row_stride,
                            .stride = c.row_stride,
                            .columns = c.columns,
                            .bias = nullptr,
                            .scale = scale,
                            .add = add}});
    if (done) done(rows.begin, rows.size());
  }
}

void multiply_chunks(const MatrixView<const float>& a, const MatrixView<const float>& b,
                     const MatrixView<float>& c, float scale, bool accumulate,
                     StackScratch& scratch, const RowsDone& done) {
  const int64_t most_depth = chunk_depth(a.columns);
  const bool at_once = chunk_count(a.columns) == 1 && c.columns <= kBlockColumns;
  for (int64_t chunk = 0; chunk < chunk_count(a.columns); ++chunk) {
    const int64_t k = chunk * most_depth;
    const int64_t depth = std::min(most_depth, a.columns - k);
    const bool add = accumulate || chunk > 0;
    const MatrixView<const float> a_chunk = {a.data + k * a.column_stride, a.rows, depth,
                                             a.row_stride, a.column_stride};
    for (int64_t n = 0; n < c.columns; n += kBlockColumns) {
      const int64_t width = std::min(kBlockColumns, c.columns - n);
      multiply_chunk(a_chunk,
                     {b.data + k * b.row_stride + n * b.column_stride, depth, width, b.row_stride,
                      b.column_stride},
                     {c.data + n, c.rows, width, c.row_stride, 1}, scale, add, scratch,
                     at_once ? done : nullptr);
    }
  }
  if (done && !at_once) done(0, c.rows);
}

void multiply_views(const MatrixView<const float>& a, const MatrixView<const float>& b,
                    const MatrixView<float>& c, float scale, bool accumulate,
                    const RowsDone& done) {
  static thread_local StackScratch scratch;
  // A large A that lies transposed in memory is cheaper to pack in panels, as the right-hand side
  // of Cᵀ = Bᵀ·Aᵀ: the same sums in the same order.
  if (a.column_stride == 1 || a.row_stride != 1 || 2 * c.columns >= c.rows || accumulate) {
    multiply_chunks(a, b, c, scale, accumulate, scratch, done);
    return;
  }
  float* turned = scratch.c.floats(c.columns * c.rows);
  multiply_chunks(transposed(b), transposed(a), {turned, c.columns, c.rows, c.rows, 1}, scale,
                  false, scratch, nullptr);
  copy_matrix(turned, 1, c.rows, c.rows, c.columns, c.data, c.row_stride);
  if (done) done(0, c.rows);
}

void copy_views(const MatrixView<const float>& from, const MatrixView<float>& to) {
  copy_matrix(from.data, from.row_stride, from.column_stride, from.rows, from.columns, to.data,
              to.row_stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace whyformer {
namespace {

HWY_EXPORT(multiply_views);
HWY_EXPORT(copy_views);

// A part smaller than this costs more to pack than to multiply.
constexpr int64_t kLeastPartRows = 24;
constexpr int64_t kLeastPartColumns = 64;
constexpr int64_t kLeastWork = 100'000;

template <typename T>
void check(const MatrixView<const T>& a, const MatrixView<const T>& b, const MatrixView<T>& c) {
  if (a.columns != b.rows || a.rows != c.rows || b.columns != c.columns) {
    throw InvalidInput(
        fmt::format("matrix product: A is {} x {} and B is {} x {}, so C cannot be {} x {}", a.rows,
                    a.columns, b.rows, b.columns, c.rows, c.columns));
  }
  // One column has no neighbours: its stride is never used, and tensors say 0 for it.
  if (c.columns > 1 && c.column_stride != 1) {
    throw InvalidInput(fmt::format(
        "matrix product: the elements of a row of C must be neighbours, but they are {} apart",
        c.column_stride));
  }
}

template <typename T>
MatrixView<T> part(const MatrixView<T>& matrix, const Range& rows, const Range& columns) {
  return {matrix.data + rows.begin * matrix.row_stride + columns.begin * matrix.column_stride,
          rows.size(), columns.size(), matrix.row_stride, matrix.column_stride};
}

template <typename T>
MatrixView<T> moved(MatrixView<T> matrix, int64_t offset) {
  matrix.data += offset;
  return matrix;
}

// The product at (outer, inner) = (item / inner, item % inner), without the scale.
template <typename T>
ProductStack<T> item_of(const ProductStack<T>& products, int64_t item) {
  const int64_t o = item / products.inner;
  const int64_t i = item % products.inner;
  ProductStack<T> one = products;
  one.a = moved(products.a, o * products.a_outer + i * products.a_inner);
  one.b = moved(products.b, o * products.b_outer + i * products.b_inner);
  one.c = moved(products.c, o * products.c_outer + i * products.c_inner);
  return one;
}

}  // namespace

void multiply_stack(const ProductStack<float>& products) {
  check(products.a, products.b, products.c);
  const int64_t items = products.outer * products.inner;
  const int64_t rows = products.c.rows;
  const int64_t columns = products.c.columns;
  const int64_t depth = products.a.columns;
  if (items == 0 || rows == 0 || columns == 0) return;
  const int64_t item_work = rows * columns * std::max<int64_t>(1, depth);
  // Each part of an item packs its own share of B, so items are cut only if there are too few.
  const int64_t wanted = divide_up(2 * thread_count(), items);
  const int64_t most = std::max<int64_t>(1, item_work / kLeastWork);
  const int64_t row_parts =
      std::clamp<int64_t>(std::min(wanted, most), 1, divide_up(rows, kLeastPartRows));
  const int64_t most_column_parts = products.then ? 1 : divide_up(columns, kLeastPartColumns);
  const int64_t column_parts =
      std::clamp<int64_t>(std::min(wanted, most) / row_parts, 1, most_column_parts);
  const int64_t parts = row_parts * column_parts;
  const int64_t grain = divide_up(kLeastWork, item_work / parts + 1);
  parallel_for(items * parts, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const ProductStack<float> item = item_of(products, i / parts);
      const Range row_range = part_of(rows, row_parts, i % parts / column_parts);
      const Range column_range = part_of(columns, column_parts, i % column_parts);
      RowsDone done;
      if (products.then) {
        done = [&, index = i / parts](int64_t first, int64_t count) {
          products.then(index, row_range.begin + first, count);
        };
      }
      HWY_DYNAMIC_DISPATCH(multiply_views)
      (part(item.a, row_range, {0, depth}), part(item.b, {0, depth}, column_range),
       part(item.c, row_range, column_range), item.scale, item.accumulate, done);
    }
  });
}

void multiply_here(const MatrixView<const float>& a, const MatrixView<const float>& b,
                   const MatrixView<float>& c, bool accumulate) {
  check(a, b, c);
  HWY_DYNAMIC_DISPATCH(multiply_views)(a, b, c, 1, accumulate, nullptr);
}

void copy_matrix(const MatrixView<const float>& from, const MatrixView<float>& to) {
  HWY_DYNAMIC_DISPATCH(copy_views)(from, to);
}

void multiply_stack(const ProductStack<double>& products) {
  check(products.a, products.b, products.c);
  parallel_for(products.outer * products.inner, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const ProductStack<double> item = item_of(products, i);
      const auto& [a, b, c] = std::tie(item.a, item.b, item.c);
      for (int64_t row = 0; row < c.rows; ++row) {
        double* out = c.data + row * c.row_stride;
        if (!item.accumulate) std::fill_n(out, c.columns, 0.0);
        for (int64_t k = 0; k < a.columns; ++k) {
          const double factor = item.scale * a.data[row * a.row_stride + k * a.column_stride];
          const double* b_row = b.data + k * b.row_stride;
          for (int64_t n = 0; n < c.columns; ++n) out[n] += factor * b_row[n * b.column_stride];
        }
      }
      if (products.then) products.then(i, 0, c.rows);
    }
  });
}

}  // namespace whyformer
#endif  // HWY_ONCE
