// Verdicts on the attributions of one input, by one set of random rankings for all methods.
#pragma once

#include "evaluate/measure_methods.h"
#include "run/run.h"
#include "whyformer/model.h"

namespace whyformer {

// Adds `trust` to the explanation and to each of its attributions; where nothing can be measured, a
// note says why. `run` is that of the explanation, with its target set.
void add_trust(const TrustRequest& request, Run& run, const Rescore& rescore,
               Explanation& explanation);

// The share of random values below `own`, ties counted half. Its error is the deviation of a share
// of which so many draws are known and nothing else (a Beta distribution), so it is never 0.
Percentile percentile_among(double own, std::span<const double> random);

// How probable a random value is that lies as far out among the others, and on which side it lies.
struct RandomTest {
  double p_value = 1;  // two-sided
  TrustVerdict verdict = TrustVerdict::kLikeRandom;
};
RandomTest test_among(double own, std::span<const double> random);

}  // namespace whyformer
