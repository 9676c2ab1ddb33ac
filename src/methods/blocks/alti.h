// ALTI (Ferrando et al., EMNLP 2022): how much nearer each token's vector brings the layer's
// output.
#pragma once

#include "discovery/blocks.h"
#include "graph/pass.h"
#include "run/attention_math.h"

namespace whyformer {

struct AltiOptions {
  enum class Norm { kL1, kL2 };
  enum class Through { kAttention, kBlock };
  Norm norm = Norm::kL1;
  Through through = Through::kAttention;
};

// One layer's contributions, [rows, tokens]: entries at least 0, rows that sum to 1. Throws
// InvalidInput for kBlock where the block normalises before its parts.
Matrix alti_map(const EncoderBlock& block, const Pass& pass, int64_t sample,
                const AltiOptions& options);

}  // namespace whyformer
