#include "base/gauss_legendre.h"

#include <cmath>
#include <numbers>

namespace whyformer {

// Newton's method on the Legendre polynomial, whose values and slope follow from the three-term
// recurrence.
Quadrature gauss_legendre(int count) {
  Quadrature result{std::vector<double>(count), std::vector<double>(count)};
  for (int i = 0; i < count; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (count + 0.5));
    double slope = 1;
    for (int step = 0; step < 100; ++step) {
      double value = 1, before = 0;
      for (int degree = 1; degree <= count; ++degree) {
        const double older = before;
        before = value;
        value = ((2 * degree - 1) * x * before - (degree - 1) * older) / degree;
      }
      slope = count * (x * value - before) / (x * x - 1);
      const double change = value / slope;
      x -= change;
      if (std::abs(change) < 1e-15) break;
    }
    result.nodes[count - 1 - i] = (x + 1) / 2;
    result.weights[count - 1 - i] = 1 / ((1 - x * x) * slope * slope);
  }
  return result;
}

}  // namespace whyformer
