// Small dense systems in double: what fits over a Gram matrix solve at every step.
#pragma once

#include <cstdint>

namespace whyformer {

// Replaces the lower half (with the diagonal) of a symmetric positive matrix [size, size],
// row-major, by its Cholesky factor L; the upper half is neither read nor written. False where the
// matrix is not positive, and the contents are then of no use. Runs in the calling thread,
// vectorised for the processor at run time.
bool factor_cholesky(double* matrix, int64_t size);

// x = (L Lᵀ)⁻¹ x.
void solve_cholesky(const double* factor, int64_t size, double* x);

// y = A x for a row-major A [rows, columns].
void multiply_vector(const double* a, int64_t rows, int64_t columns, const double* x, double* y);

}  // namespace whyformer
