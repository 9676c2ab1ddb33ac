#include "kernels/cholesky.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cholesky.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace whyformer {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;

constexpr int64_t kTile = 4;

int64_t lanes() { return static_cast<int64_t>(hn::Lanes(D())); }

double dot(const double* a, const double* b, int64_t count) {
  V sum = hn::Zero(D()), more = hn::Zero(D());
  int64_t i = 0;
  for (; i + 2 * lanes() <= count; i += 2 * lanes()) {
    sum = hn::MulAdd(hn::LoadU(D(), a + i), hn::LoadU(D(), b + i), sum);
    more = hn::MulAdd(hn::LoadU(D(), a + i + lanes()), hn::LoadU(D(), b + i + lanes()), more);
  }
  double total = hn::GetLane(hn::SumOfLanes(D(), hn::Add(sum, more)));
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

// dots[r][c] = Σ over `count` of a[r]·b[c] for four rows of each: every load serves four products.
void dots_of_tile(const double* a, const double* b, int64_t stride, int64_t count,
                  double dots[kTile][kTile]) {
  const D d;
  V s00 = hn::Zero(d), s01 = s00, s02 = s00, s03 = s00, s10 = s00, s11 = s00, s12 = s00, s13 = s00;
  V s20 = s00, s21 = s00, s22 = s00, s23 = s00, s30 = s00, s31 = s00, s32 = s00, s33 = s00;
  int64_t i = 0;
  for (; i + lanes() <= count; i += lanes()) {
    const V b0 = hn::LoadU(d, b + i), b1 = hn::LoadU(d, b + stride + i);
    const V b2 = hn::LoadU(d, b + 2 * stride + i), b3 = hn::LoadU(d, b + 3 * stride + i);
    V row = hn::LoadU(d, a + i);
    s00 = hn::MulAdd(row, b0, s00), s01 = hn::MulAdd(row, b1, s01);
    s02 = hn::MulAdd(row, b2, s02), s03 = hn::MulAdd(row, b3, s03);
    row = hn::LoadU(d, a + stride + i);
    s10 = hn::MulAdd(row, b0, s10), s11 = hn::MulAdd(row, b1, s11);
    s12 = hn::MulAdd(row, b2, s12), s13 = hn::MulAdd(row, b3, s13);
    row = hn::LoadU(d, a + 2 * stride + i);
    s20 = hn::MulAdd(row, b0, s20), s21 = hn::MulAdd(row, b1, s21);
    s22 = hn::MulAdd(row, b2, s22), s23 = hn::MulAdd(row, b3, s23);
    row = hn::LoadU(d, a + 3 * stride + i);
    s30 = hn::MulAdd(row, b0, s30), s31 = hn::MulAdd(row, b1, s31);
    s32 = hn::MulAdd(row, b2, s32), s33 = hn::MulAdd(row, b3, s33);
  }
  const auto sum = [&](V v) { return hn::GetLane(hn::SumOfLanes(d, v)); };
  dots[0][0] = sum(s00), dots[0][1] = sum(s01), dots[0][2] = sum(s02), dots[0][3] = sum(s03);
  dots[1][0] = sum(s10), dots[1][1] = sum(s11), dots[1][2] = sum(s12), dots[1][3] = sum(s13);
  dots[2][0] = sum(s20), dots[2][1] = sum(s21), dots[2][2] = sum(s22), dots[2][3] = sum(s23);
  dots[3][0] = sum(s30), dots[3][1] = sum(s31), dots[3][2] = sum(s32), dots[3][3] = sum(s33);
  for (; i < count; ++i) {
    for (int64_t r = 0; r < kTile; ++r) {
      for (int64_t c = 0; c < kTile; ++c) dots[r][c] += a[r * stride + i] * b[c * stride + i];
    }
  }
}

// Rows [row, row + rows) in columns [column, column + columns), all of them below or on the
// diagonal tile; what lies left of `column` is done. False at a pivot that is not positive.
bool finish_tile(double* m, int64_t size, int64_t row, int64_t rows, int64_t column,
                 int64_t columns) {
  double dots[kTile][kTile];
  if (rows == kTile && columns == kTile) {
    dots_of_tile(m + row * size, m + column * size, size, column, dots);
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        dots[r][c] = dot(m + (row + r) * size, m + (column + c) * size, column);
      }
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    double* line = m + (row + r) * size;
    for (int64_t c = 0; c < columns && column + c <= row + r; ++c) {
      const double* pivot_line = m + (column + c) * size;
      double rest = line[column + c] - dots[r][c];
      for (int64_t k = 0; k < c; ++k) rest -= line[column + k] * pivot_line[column + k];
      if (column + c == row + r) {
        if (!(rest > 0)) return false;
        line[column + c] = std::sqrt(rest);
      } else {
        line[column + c] = rest / pivot_line[column + c];
      }
    }
  }
  return true;
}

}  // namespace

bool factor_doubles(double* matrix, int64_t size) {
  for (int64_t column = 0; column < size; column += kTile) {
    const int64_t columns = HWY_MIN(kTile, size - column);
    for (int64_t row = column; row < size; row += kTile) {
      const int64_t rows = HWY_MIN(kTile, size - row);
      if (!finish_tile(matrix, size, row, rows, column, columns)) return false;
    }
  }
  return true;
}

void solve_doubles(const double* factor, int64_t size, double* x) {
  for (int64_t i = 0; i < size; ++i) {
    x[i] = (x[i] - dot(factor + i * size, x, i)) / factor[i * size + i];
  }
  // Lᵀ x = y by rows of L: once x[i] is known, its share goes out of all above it.
  for (int64_t i = size; i-- > 0;) {
    const double* row = factor + i * size;
    x[i] /= row[i];
    const V known = hn::Set(D(), x[i]);
    int64_t j = 0;
    for (; j + lanes() <= i; j += lanes()) {
      hn::StoreU(hn::NegMulAdd(known, hn::LoadU(D(), row + j), hn::LoadU(D(), x + j)), D(), x + j);
    }
    for (; j < i; ++j) x[j] -= x[i] * row[j];
  }
}

void multiply_doubles(const double* a, int64_t rows, int64_t columns, const double* x, double* y) {
  for (int64_t i = 0; i < rows; ++i) y[i] = dot(a + i * columns, x, columns);
}

}  // namespace HWY_NAMESPACE
}  // namespace whyformer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace whyformer {
namespace {

HWY_EXPORT(factor_doubles);
HWY_EXPORT(solve_doubles);
HWY_EXPORT(multiply_doubles);

}  // namespace

bool factor_cholesky(double* matrix, int64_t size) {
  return HWY_DYNAMIC_DISPATCH(factor_doubles)(matrix, size);
}

void solve_cholesky(const double* factor, int64_t size, double* x) {
  HWY_DYNAMIC_DISPATCH(solve_doubles)(factor, size, x);
}

void multiply_vector(const double* a, int64_t rows, int64_t columns, const double* x, double* y) {
  HWY_DYNAMIC_DISPATCH(multiply_doubles)(a, rows, columns, x, y);
}

}  // namespace whyformer
#endif  // HWY_ONCE
