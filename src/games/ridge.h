// Weighted ridge regression on visible players, with an intercept that is not penalised.
#pragma once

#include <cstdint>
#include <vector>

#include "games/coalition_moments.h"

namespace whyformer {

struct RidgeFit {
  std::vector<double> coefficients;  // of the players, in their order
  double intercept = 0;
};

RidgeFit ridge(const CoalitionMoments& moments, const std::vector<int64_t>& players, int64_t output,
               double penalty);

// How much of the weighted square of the target about its mean the fit explains, times that square.
double explained_square(const CoalitionMoments& moments, const std::vector<int64_t>& players,
                        int64_t output, const RidgeFit& fit);

}  // namespace whyformer
