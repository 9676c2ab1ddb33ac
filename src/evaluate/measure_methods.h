// Metrics of several methods for one explained input. What all of them ask of the model runs
// together, each question once.
#pragma once

#include "evaluate/metric.h"
#include "run/run.h"
#include "whyformer/evaluation.h"

namespace whyformer {

// Scores of attribution `index` while something else enters the run; nothing where the method does
// not read what enters.
using Rescore = std::function<std::optional<std::vector<double>>(size_t index)>;

// What metrics read of one explained input.
struct MeasuredCase {
  const Explanation& explanation;
  Run& run;
  Rescore rescore;
  const std::vector<bool>* region = nullptr;  // by unit, where it is known
  int64_t seed = 0;                           // of the draws for this input
};

// Fills `methods`, `units` and `evaluations` of the result.
void measure_methods(const EvaluationRequest& request, const MeasuredCase& one,
                     EvaluatedInput& result);

}  // namespace whyformer
