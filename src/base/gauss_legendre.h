// Nodes and weights of Gauss–Legendre quadrature on [0, 1].
#pragma once

#include <vector>

namespace whyformer {

struct Quadrature {
  std::vector<double> nodes;
  std::vector<double> weights;  // sum to 1
};

Quadrature gauss_legendre(int count);

}  // namespace whyformer
