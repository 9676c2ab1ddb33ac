// Copies of an explained input with small noise on what enters the model, and the scores that
// methods give them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "evaluate/metric.h"
#include "run/run.h"

namespace whyformer {

struct NoiseOptions {
  int64_t copies = 4;
  double radius = 0.02;  // of uniform noise, as a share of the range of the numbers that enter
  int64_t seed = 0;
};

// Calls `visit(copy, length of the noise)` with the run entering each copy, and leaves it as it
// was. False where ids enter whose vectors were not recognised: nothing is visited then.
bool visit_noisy_inputs(Run& run, const NoiseOptions& options,
                        const std::function<void(int64_t copy, double length)>& visit);

}  // namespace whyformer
