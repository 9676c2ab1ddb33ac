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

// `region` by unit, where it is known. Fills `methods`, `units` and `evaluations` of the result.
void measure_methods(const EvaluationRequest& request, const Explanation& explanation, Run& run,
                     const Rescore& rescore, const std::vector<bool>* region,
                     EvaluatedInput& result);

}  // namespace whyformer
