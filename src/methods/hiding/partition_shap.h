// Shapley values along a tree over the input's units.
#pragma once

#include "methods/hiding/input_game.h"

namespace whyformer {

struct PartitionSettings {
  std::string context = "none";  // or "0", "1": siblings hidden, or visible
  int64_t max_evals = 500;
  int64_t batch = 0;  // coalitions between two decisions; 0: as many as fit
};
Scores partition_scores(Run& run, const PartitionSettings& settings, const HidingOptions& hiding,
                        const std::string& space);

}  // namespace whyformer
