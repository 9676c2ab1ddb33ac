// Element-wise loops over contiguous memory, in float (vectorised for the processor at run time)
// and double (plain). They run in the calling thread: callers split with parallel_for. Outputs may
// be the same memory as inputs.
#pragma once

#include <cstdint>

namespace whyformer {

// kQuickGelu is x · sigmoid(1.702 x).
enum class ActivationFunction { kGelu, kGeluTanh, kRelu, kTanh, kSilu, kSigmoid, kQuickGelu };

// y = f(x), and slope = f'(x) where that pointer is not null.
void activate(ActivationFunction f, const float* x, float* y, float* slope, int64_t count);
void activate(ActivationFunction f, const double* x, double* y, double* slope, int64_t count);

void add(const float* a, const float* b, float* out, int64_t count);
void add(const double* a, const double* b, double* out, int64_t count);
void multiply(const float* a, const float* b, float* out, int64_t count);
void multiply(const double* a, const double* b, double* out, int64_t count);

}  // namespace whyformer
