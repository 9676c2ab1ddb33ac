// Comparisons that keep NaN: a score that could not be computed must not come out as 0.
#pragma once

#include <cmath>

namespace whyformer {

inline double positive_part(double x) { return x < 0 ? 0 : x; }

inline double larger_of(double a, double b) { return std::isnan(a) || a > b ? a : b; }

inline double smaller_of(double a, double b) { return std::isnan(a) || a < b ? a : b; }

}  // namespace whyformer
