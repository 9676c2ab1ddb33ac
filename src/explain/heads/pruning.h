// Runs without some heads, and the accuracy that is left when the least important ones go.
#pragma once

#include <functional>
#include <vector>

#include "explain/heads/head_label.h"
#include "whyformer/heads.h"

namespace whyformer {

// Heads in ascending order of their scores; with keep_one the highest of each layer is left out.
std::vector<HeadName> pruning_order(const HeadGrid& scores, bool keep_one);

// The model's outputs [batch, outputs] when the heads give nothing to their output projections.
Tensor outputs_without(const TextGraph& graph, const Feeds& inputs,
                       const std::vector<HeadName>& pruned);

// A text of the corpus whose label is known.
struct PrunedText {
  const Encoding* encoding;
  const HeadLabel* label;
};

// Called with how many more runs were done; returning false ends the work early.
using Advance = std::function<bool(int64_t runs)>;

// How many runs of the model a curve takes.
int64_t pruning_runs(const HeadGrid& scores, const PruneRequest& request, int64_t texts);

// Empty where the work ended before anything was measured.
std::optional<PruningCurve> pruning_curve(const TextModel& model,
                                          const std::vector<PrunedText>& texts,
                                          const HeadScores& scores, const PruneRequest& request,
                                          DType dtype, const Advance& advance);

}  // namespace whyformer
