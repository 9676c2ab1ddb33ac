// Kernels that resizing and sampling share.
#pragma once

namespace whyformer {

// Keys' cubic convolution kernel at a distance from its centre.
inline double cubic_weight(double distance, double a) {
  const double d = distance;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  return 0;
}

inline double cubic_slope(double distance, double a) {
  const double d = distance;
  if (d <= 1) return (3 * (a + 2) * d - 2 * (a + 3)) * d;
  if (d < 2) return (3 * a * d - 10 * a) * d + 8 * a;
  return 0;
}

}  // namespace whyformer
