// Loops over contiguous rows, each in float (vectorised for the processor at run time) and in
// double (plain loops, for checks). They run in the calling thread: callers split rows with
// parallel_for. `out` may be the same memory as the first input.
#pragma once

#include <cstdint>

namespace whyformer {

// Rows [begin, end) of contiguous ones, between zeros before and zeros behind: where only some
// tokens are read, gradients of all others are zeros that need not be multiplied.
struct RowRange {
  int64_t begin;
  int64_t end;
};
RowRange rows_with_content(const float* rows, int64_t count, int64_t columns);

// out = softmax(scale · scores + mask) along each row. `mask` (may be null) is added after scaling;
// its rows are mask_stride apart (0: the same row for all). A masked entry is -infinity or the
// lowest finite number; its probability is exactly 0. A row that is masked everywhere becomes
// zeros.
void softmax_rows(const float* scores, float* out, int64_t rows, int64_t columns, float scale,
                  const float* mask, int64_t mask_stride);
void softmax_rows(const double* scores, double* out, int64_t rows, int64_t columns, double scale,
                  const double* mask, int64_t mask_stride);

// Gradient to the raw scores: dx = scale · p ⊙ (dp - Σ_j p_j dp_j).
void softmax_rows_gradient(const float* probabilities, const float* d_probabilities,
                           float* d_scores, int64_t rows, int64_t columns, float scale);
void softmax_rows_gradient(const double* probabilities, const double* d_probabilities,
                           double* d_scores, int64_t rows, int64_t columns, double scale);

// out = (x - mean) · inverse_deviation · weight + bias; also writes normalised = (x - mean) ·
// inverse_deviation and inverse_deviation [rows] where those pointers are not null.
void layer_norm_rows(const float* x, const float* weight, const float* bias, float* out,
                     float* normalised, float* inverse_deviation, int64_t rows, int64_t columns,
                     double epsilon);
void layer_norm_rows(const double* x, const double* weight, const double* bias, double* out,
                     double* normalised, double* inverse_deviation, int64_t rows, int64_t columns,
                     double epsilon);

// dx = inverse_deviation · (g - mean(g) - normalised · mean(g ⊙ normalised)), g = dy ⊙ weight.
void layer_norm_rows_gradient(const float* dy, const float* weight, const float* normalised,
                              const float* inverse_deviation, float* dx, int64_t rows,
                              int64_t columns);
void layer_norm_rows_gradient(const double* dy, const double* weight, const double* normalised,
                              const double* inverse_deviation, double* dx, int64_t rows,
                              int64_t columns);

}  // namespace whyformer
