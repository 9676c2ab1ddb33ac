// The Euclidean length of a vector, to divide by.
#pragma once

#include <cmath>
#include <span>

namespace whyformer {

// 1 for a vector of zeros, which has no direction.
inline double length_or_one(std::span<const double> vector) {
  double squares = 0;
  for (const double x : vector) squares += x * x;
  return squares > 0 ? std::sqrt(squares) : 1;
}

}  // namespace whyformer
