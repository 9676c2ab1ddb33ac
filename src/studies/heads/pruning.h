// Runs without some heads, and the accuracy that is left when the least important ones go.
#pragma once

#include <functional>
#include <vector>

#include "studies/heads/head_examples.h"
#include "studies/heads/head_label.h"
#include "whyformer/heads.h"

namespace whyformer {

// Heads in ascending order of their scores; with keep_one the highest of each layer is left out.
std::vector<HeadName> pruning_order(const HeadGrid& scores, bool keep_one);

// The model's outputs [batch, outputs] when the heads give nothing to their output projections.
Tensor outputs_without(const ModelGraph& graph, const Feeds& inputs,
                       const std::vector<HeadName>& pruned);

// Called with how many more runs were done; returning false ends the work early.
using Advance = std::function<bool(int64_t runs)>;

// How many runs of the model a curve takes.
int64_t pruning_runs(const HeadGrid& scores, const PruneRequest& request, int64_t examples);

// Of examples whose labels are known. Empty where the work ended before anything was measured.
std::optional<PruningCurve> pruning_curve(const HeadExamples& examples,
                                          const std::vector<std::optional<HeadLabel>>& labels,
                                          const HeadScores& scores, const PruneRequest& request,
                                          DType dtype, const Advance& advance);

}  // namespace whyformer
