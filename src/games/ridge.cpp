#include "games/ridge.h"

#include "games/symmetric_system.h"

namespace whyformer {
namespace {

// Σ w (z_a - mean)(z_b - mean) and the same with y.
double centred_product(const CoalitionMoments& moments, int64_t a, int64_t b) {
  return moments.seen_together(a, b) - moments.seen(a) * moments.seen(b) / moments.weight;
}
double centred_target(const CoalitionMoments& moments, int64_t player, int64_t output) {
  return moments.zy[player * moments.outputs + output] -
         moments.seen(player) * moments.y[output] / moments.weight;
}

}  // namespace

RidgeFit ridge(const CoalitionMoments& moments, const std::vector<int64_t>& players, int64_t output,
               double penalty) {
  const int64_t size = static_cast<int64_t>(players.size());
  std::vector<double> matrix(size * size), right(size);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j <= i; ++j)
      matrix[i * size + j] = centred_product(moments, players[i], players[j]);
    matrix[i * size + i] += penalty;
    right[i] = centred_target(moments, players[i], output);
  }
  RidgeFit fit{.coefficients = SymmetricSystem(std::move(matrix), size).solve(right, 1)};
  fit.intercept = moments.y[output] / moments.weight;
  for (int64_t i = 0; i < size; ++i)
    fit.intercept -= fit.coefficients[i] * moments.seen(players[i]) / moments.weight;
  return fit;
}

double explained_square(const CoalitionMoments& moments, const std::vector<int64_t>& players,
                        int64_t output, const RidgeFit& fit) {
  double explained = 0;
  for (size_t i = 0; i < players.size(); ++i) {
    double fitted = 0;
    for (size_t j = 0; j < players.size(); ++j) {
      fitted += centred_product(moments, players[i], players[j]) * fit.coefficients[j];
    }
    explained += fit.coefficients[i] * (2 * centred_target(moments, players[i], output) - fitted);
  }
  return explained;
}

}  // namespace whyformer
