// Attention rollout (Abnar & Zuidema, ACL 2020), and the layer matrix that attention flow shares.
#pragma once

#include "methods/method.h"
#include "run/attention_math.h"

namespace whyformer {

struct RolloutOptions {
  int64_t start = 0;  // first layer of the product
  HeadFusion fusion = HeadFusion::kMean;
  double discard = 0;  // fraction of the smallest entries set to 0
  bool residual = true;
  bool normalise = true;
  OwnEntry own = OwnEntry::kKeep;
};

// Â = (fused A + I) / row sums, for one layer's maps [heads, queries, keys].
Matrix rollout_factor(const Tensor& maps, const RolloutOptions& options,
                      std::optional<int64_t> row);

Scores rollout(Run& run, const RolloutOptions& options = {});

}  // namespace whyformer
