#include "kernels/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/parallel.h"
#include "tests/support/every_target.h"
#include "whyformer/error.h"

namespace whyformer {
namespace {

std::vector<float> random_floats(int64_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(std::max<int64_t>(1, count));
  for (float& value : values) value = uniform(generator);
  return values;
}

// A sum of `depth` random products is about √depth / 3 large and is rounded `depth` times, each
// time by up to 6e-8 of that in either direction, so its error is about 2e-8 · depth; four times
// that is rare.
double tolerance(int64_t depth) { return 1e-6 + 8e-8 * static_cast<double>(depth); }

struct PackedCase {
  int64_t rows, depth, columns;
  bool transposed = false;
  bool bias = false;
  bool accumulate = false;
};

// Rows of A and C lie further apart than they are long, and what lies between must stay untouched.
void check_packed(const PackedCase& test) {
  SCOPED_TRACE(testing::Message() << test.rows << " x " << test.depth << " x " << test.columns);
  const auto [rows, depth, columns, transposed, with_bias, accumulate] = test;
  const int64_t a_stride = depth + 3;
  const int64_t c_stride = columns + 5;
  const std::vector<float> a = random_floats(rows * a_stride, 1);
  const std::vector<float> b = random_floats(depth * columns, 2);
  const std::vector<float> bias = random_floats(columns, 3);
  const std::vector<float> before = random_floats(rows * c_stride, 4);
  const int64_t row_stride = transposed ? 1 : columns;
  const int64_t column_stride = transposed ? depth : 1;

  std::vector<float> c = before;
  const PackedMatrix packed(b.data(), depth, columns, row_stride, column_stride);
  multiply_packed(a.data(), rows, a_stride, packed, c.data(), c_stride,
                  {.bias = with_bias ? bias.data() : nullptr, .accumulate = accumulate});

  for (int64_t m = 0; m < rows; ++m) {
    for (int64_t n = 0; n < c_stride; ++n) {
      const int64_t at = m * c_stride + n;
      if (n >= columns) {
        ASSERT_EQ(c[at], before[at]) << "outside C at " << m << ", " << n;
        continue;
      }
      double expected = (accumulate ? before[at] : 0.0) + (with_bias ? bias[n] : 0.0);
      for (int64_t k = 0; k < depth; ++k) {
        expected += double{a[m * a_stride + k]} * b[k * row_stride + n * column_stride];
      }
      ASSERT_NEAR(c[at], expected, tolerance(depth)) << "at " << m << ", " << n;
    }
  }
}

TEST(MultiplyPacked, EqualsPlainLoopsForAnyShape) {
  for_every_target([] {
    for (const int64_t rows : {1, 2, 3, 5, 6, 7, 8, 9, 13, 16, 31}) {
      for (const int64_t depth : {0, 1, 2, 17, 64, 256, 257, 300}) {
        for (const int64_t columns : {1, 2, 15, 16, 17, 33, 64, 100}) {
          check_packed({.rows = rows, .depth = depth, .columns = columns});
        }
      }
    }
  });
}

TEST(MultiplyPacked, EqualsPlainLoopsForManyRows) {
  for_every_target([] {
    check_packed({.rows = 191, .depth = 40, .columns = 48});
    check_packed({.rows = 193, .depth = 513, .columns = 40});
    check_packed({.rows = 600, .depth = 30, .columns = 70});
  });
}

TEST(MultiplyPacked, PacksTransposedWeights) {
  for_every_target([] {
    check_packed({.rows = 7, .depth = 261, .columns = 70, .transposed = true});
    check_packed({.rows = 1, .depth = 3, .columns = 1, .transposed = true});
  });
}

TEST(MultiplyPacked, AddsBiasAndWhatCHeldOnceWhateverTheNumberOfChunks) {
  for_every_target([] {
    for (const int64_t depth : {0, 5, 256, 700}) {
      for (const int64_t columns : {16, 39, 128}) {
        check_packed({.rows = 9, .depth = depth, .columns = columns, .bias = true});
        check_packed({.rows = 9, .depth = depth, .columns = columns, .accumulate = true});
        check_packed(
            {.rows = 2, .depth = depth, .columns = columns, .bias = true, .accumulate = true});
      }
    }
  });
}

TEST(MultiplyPacked, NoRowsOrColumnsIsNoWork) {
  const PackedMatrix none(nullptr, 5, 0, 0, 1);
  EXPECT_TRUE(none.empty());
  float untouched = 7;
  multiply_packed(&untouched, 1, 5, none, &untouched, 1);
  const PackedMatrix one(&untouched, 1, 1, 1, 1);
  multiply_packed(nullptr, 0, 1, one, nullptr, 1);
  EXPECT_EQ(untouched, 7);
}

TEST(MultiplyPacked, ARowDependsNeitherOnItsNeighboursNorOnTheThreads) {
  for_every_target([] {
    const int64_t rows = 210, depth = 600, columns = 150;
    const std::vector<float> a = random_floats(rows * depth, 5);
    const std::vector<float> b = random_floats(depth * columns, 6);
    const std::vector<float> bias = random_floats(columns, 7);
    const PackedMatrix packed(b.data(), depth, columns, columns, 1);
    const WriteOut write_out = {.bias = bias.data()};
    const int threads = thread_count();
    set_thread_count(1);
    std::vector<float> whole(rows * columns);
    multiply_packed(a.data(), rows, depth, packed, whole.data(), columns, write_out);
    set_thread_count(2);
    for (const int64_t height : {1, 2, 3, 4, 5, 6, 7, 8, 13, 64, 210}) {
      std::vector<float> pieces(rows * columns);
      for (int64_t row = 0; row < rows; row += height) {
        multiply_packed(a.data() + row * depth, std::min(height, rows - row), depth, packed,
                        pieces.data() + row * columns, columns, write_out);
      }
      EXPECT_EQ(pieces, whole) << "in pieces of " << height;
    }
    set_thread_count(threads);
  });
}

TEST(MultiplyPacked, LongSumsKeepThePrecisionOfChunks) {
  const int64_t depth = 3072;
  const std::vector<float> a(depth, 0.1f), b(depth, 0.1f);
  const PackedMatrix packed(b.data(), depth, 1, 1, 1);
  float c = 0;
  multiply_packed(a.data(), 1, depth, packed, &c, 1);
  EXPECT_NEAR(c, depth * double{0.1f} * double{0.1f}, 3e-5);
}

TEST(MultiplyPacked, RefusesWeightsPackedForAnotherInstructionSet) {
  const float b = 1;
  std::vector<PackedMatrix> all;
  for_every_target([&] { all.emplace_back(&b, 1, 1, 1, 1); });
  float c = 0;
  for (const PackedMatrix& packed : all) {
    if (packed.panel_columns() == all.front().panel_columns()) continue;
    EXPECT_THROW(multiply_packed(&b, 1, 1, packed, &c, 1), Error);
  }
}

struct StackCase {
  int64_t rows, depth, columns;
  bool a_transposed = false;
  bool b_transposed = false;
  bool accumulate = false;
  int64_t outer = 2;
  int64_t inner = 3;
};

// As in attention: the inner items (heads) lie side by side in rows that hold all of them.
template <typename T>
struct Heads {
  std::vector<T> data;
  MatrixView<const T> view;
  int64_t outer_stride, inner_stride;

  Heads(const StackCase& test, int64_t rows, int64_t columns, bool transposed, uint32_t seed) {
    const int64_t stored_rows = transposed ? columns : rows;
    const int64_t stored_columns = transposed ? rows : columns;
    const int64_t stride = test.inner * stored_columns + 2;
    outer_stride = stored_rows * stride;
    inner_stride = stored_columns;
    const std::vector<float> values = random_floats(test.outer * outer_stride, seed);
    data.assign(values.begin(), values.end());
    view = {data.data(), rows, columns, transposed ? 1 : stride, transposed ? stride : 1};
  }
  double at(int64_t o, int64_t i, int64_t row, int64_t column) const {
    return data[o * outer_stride + i * inner_stride + row * view.row_stride +
                column * view.column_stride];
  }
};

template <typename T>
ProductStack<T> stack_of(const StackCase& test, const Heads<T>& a, const Heads<T>& b, Heads<T>& c) {
  return {.outer = test.outer,
          .inner = test.inner,
          .a = a.view,
          .b = b.view,
          .c = {c.data.data(), c.view.rows, c.view.columns, c.view.row_stride, 1},
          .a_outer = a.outer_stride,
          .a_inner = a.inner_stride,
          .b_outer = b.outer_stride,
          .b_inner = b.inner_stride,
          .c_outer = c.outer_stride,
          .c_inner = c.inner_stride,
          .scale = T{0.125},
          .accumulate = test.accumulate};
}

template <typename T>
void check_stack(const StackCase& test, double allowed) {
  SCOPED_TRACE(testing::Message() << test.rows << " x " << test.depth << " x " << test.columns
                                  << (test.a_transposed ? " Aᵀ" : " A")
                                  << (test.b_transposed ? " Bᵀ" : " B"));
  const Heads<T> a(test, test.rows, test.depth, test.a_transposed, 1);
  const Heads<T> b(test, test.depth, test.columns, test.b_transposed, 2);
  const Heads<T> before(test, test.rows, test.columns, false, 3);
  Heads<T> c = before;
  multiply_stack(stack_of(test, a, b, c));
  for (int64_t o = 0; o < test.outer; ++o) {
    for (int64_t i = 0; i < test.inner; ++i) {
      for (int64_t m = 0; m < test.rows; ++m) {
        for (int64_t n = 0; n < test.columns; ++n) {
          double expected = 0;
          for (int64_t k = 0; k < test.depth; ++k) expected += a.at(o, i, m, k) * b.at(o, i, k, n);
          expected *= 0.125;
          if (test.accumulate) expected += before.at(o, i, m, n);
          ASSERT_NEAR(c.at(o, i, m, n), expected, allowed) << m << ", " << n;
        }
      }
    }
  }
}

TEST(MultiplyStack, EqualsPlainLoopsForAnyShapeAndTransposition) {
  for_every_target([] {
    for (const int64_t rows : {1, 2, 5, 6, 8, 19}) {
      for (const int64_t depth : {0, 1, 6, 64, 259}) {
        for (const int64_t columns : {1, 3, 16, 37, 64}) {
          for (const int transposition : {0, 1, 2, 3}) {
            check_stack<float>({.rows = rows,
                                .depth = depth,
                                .columns = columns,
                                .a_transposed = (transposition & 1) != 0,
                                .b_transposed = (transposition & 2) != 0},
                               tolerance(depth));
          }
        }
      }
    }
  });
}

// Tensors give an axis of length 1 any stride, 0 too.
TEST(MultiplyHere, OneColumnMayHaveAnyStride) {
  for_every_target([] {
    const int64_t rows = 19, depth = 37, c_stride = 3;
    const std::vector<float> a = random_floats(rows * depth, 1), b = random_floats(depth, 2);
    std::vector<float> c(rows * c_stride, -7);
    multiply_here({a.data(), rows, depth, depth, 1}, {b.data(), depth, 1, 1, 0},
                  {c.data(), rows, 1, c_stride, 0});
    for (int64_t m = 0; m < rows; ++m) {
      double expected = 0;
      for (int64_t k = 0; k < depth; ++k) expected += static_cast<double>(a[m * depth + k]) * b[k];
      ASSERT_NEAR(c[m * c_stride], expected, tolerance(depth)) << m;
      ASSERT_EQ(c[m * c_stride + 1], -7) << "outside C at " << m;
    }
  });
}

TEST(MultiplyStack, AddsToWhatCHeld) {
  for_every_target([] {
    check_stack<float>({.rows = 9, .depth = 520, .columns = 21, .accumulate = true},
                       tolerance(520));
  });
}

TEST(MultiplyStack, OneLargeProductIsSharedByTheThreads) {
  for_every_target([] {
    check_stack<float>({.rows = 250, .depth = 40, .columns = 90, .outer = 1, .inner = 1},
                       tolerance(40));
    check_stack<float>({.rows = 1, .depth = 300, .columns = 1100, .outer = 1, .inner = 1},
                       tolerance(300));
  });
}

TEST(MultiplyStack, InDoubleEqualsPlainLoops) {
  check_stack<double>({.rows = 7, .depth = 33, .columns = 5, .accumulate = true}, 1e-13);
  check_stack<double>(
      {.rows = 3, .depth = 8, .columns = 9, .a_transposed = true, .b_transposed = true}, 1e-13);
}

TEST(MultiplyStack, AStrideOfZeroRepeatsAMatrix) {
  const std::vector<float> a = random_floats(2 * 3 * 4, 1);
  const std::vector<float> b = random_floats(4 * 5, 2);
  std::vector<float> repeated(2 * 3 * 5), single(2 * 3 * 5);
  ProductStack<float> stack = {.outer = 2,
                               .a = {a.data(), 3, 4, 4, 1},
                               .b = {b.data(), 4, 5, 5, 1},
                               .c = {repeated.data(), 3, 5, 5, 1},
                               .a_outer = 12,
                               .c_outer = 15};
  multiply_stack(stack);
  stack.outer = 1;
  stack.a.rows = 6;
  stack.c = {single.data(), 6, 5, 5, 1};
  multiply_stack(stack);
  EXPECT_EQ(repeated, single);
}

TEST(MultiplyStack, ARowDependsNeitherOnItsNeighboursNorOnTheThreads) {
  for_every_target([] {
    const StackCase test = {
        .rows = 200, .depth = 300, .columns = 75, .b_transposed = true, .outer = 1, .inner = 1};
    const Heads<float> a(test, test.rows, test.depth, false, 1);
    const Heads<float> b(test, test.depth, test.columns, true, 2);
    Heads<float> whole(test, test.rows, test.columns, false, 3);
    const int threads = thread_count();
    set_thread_count(1);
    multiply_stack(stack_of(test, a, b, whole));
    set_thread_count(2);
    for (const int64_t height : {1, 2, 4, 5, 6, 7, 8, 50, 200}) {
      Heads<float> pieces(test, test.rows, test.columns, false, 3);
      for (int64_t row = 0; row < test.rows; row += height) {
        ProductStack<float> piece = stack_of(test, a, b, pieces);
        piece.a.rows = piece.c.rows = std::min(height, test.rows - row);
        piece.a.data += row * piece.a.row_stride;
        piece.c.data += row * piece.c.row_stride;
        multiply_stack(piece);
      }
      EXPECT_EQ(pieces.data, whole.data) << "in pieces of " << height;
    }
    set_thread_count(threads);
  });
}

TEST(MultiplyStack, SaysWhichSizesDoNotMatch) {
  float data[12] = {};
  const ProductStack<float> mismatched = {
      .a = {data, 2, 3, 3, 1}, .b = {data, 4, 2, 2, 1}, .c = {data, 2, 2, 2, 1}};
  EXPECT_THROW(multiply_stack(mismatched), InvalidInput);
  const ProductStack<float> strided = {
      .a = {data, 2, 2, 2, 1}, .b = {data, 2, 2, 2, 1}, .c = {data, 2, 2, 1, 2}};
  EXPECT_THROW(multiply_stack(strided), InvalidInput);
}

}  // namespace
}  // namespace whyformer
