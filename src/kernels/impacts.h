// Products in two groups by their sign, as some relevance rules share them out: in float
// (vectorised for the processor at run time) and double (plain). They run in the calling thread.
#pragma once

#include <cstdint>

namespace whyformer {

template <typename T>
struct SignSums {
  T positive = 0;
  T negative = 0;
};

// impacts = slopes ⊙ x + constant, and the sums of the positive and of the negative ones.
SignSums<float> measure_impacts(const float* slopes, const float* x, float constant, float* impacts,
                                int64_t count);
SignSums<double> measure_impacts(const double* slopes, const double* x, double constant,
                                 double* impacts, int64_t count);

// shares += impacts ⊙ rate, which is that of the impact's sign.
void share_by_sign(const float* impacts, SignSums<float> rates, float* shares, int64_t count);
void share_by_sign(const double* impacts, SignSums<double> rates, double* shares, int64_t count);

}  // namespace whyformer
