// Concept activation vectors: the weights of a logistic regression that tells a concept's
// activations from others, found in the span of the activations, so that their width costs nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "studies/concepts/square_matrix.h"

namespace whyformer {

using ExampleRows = std::vector<int64_t>;  // of the activations, and so of their Gram matrix

// w = Σ weights[i] · x[rows[i]], pointing to the concept. The weights add up to 0, so a constant
// added to all activations changes nothing.
struct Cav {
  ExampleRows rows = {};  // the concept's, then its counterpart's
  std::vector<double> weights = {};
  double intercept = 0;
  double length = 0;        // of w
  double stationarity = 0;  // largest entry of the gradient that is left, in the dual
  int steps = 0;            // of Newton's method
};

struct CavOptions {
  double strength = 1;          // C: what the data count against ½ w·w, as in scikit-learn
  double stationarity = 1e-11;  // where to stop, relative to C
};

// Minimises ½ w·w + C Σ log(1 + exp(−y (w·x + b))). `gram` holds the inner products of all
// activations, less any constant. Throws InvalidInput for an empty side, or where the products are
// not numbers.
Cav fit_cav(const SquareMatrix& gram, const ExampleRows& concept_rows,
            const ExampleRows& counterpart, const CavOptions& options = {});

// w·x[row] + b: above 0 on the concept's side.
double decision(const SquareMatrix& gram, const Cav& cav, int64_t row);

}  // namespace whyformer
