// What methods that look inside encoder blocks share.
#pragma once

#include <functional>
#include <vector>

#include "discovery/blocks.h"
#include "methods/method.h"
#include "run/attention_math.h"
#include "run/run.h"

namespace whyformer {

// Throws UnsupportedModel that names the node at which the model is not a stack of encoder blocks.
std::vector<EncoderBlock> blocks_of(const Run& run);

// The read-out's share of each row that the block computes.
std::vector<double> read_out_rows(const Run& run, const EncoderBlock& block);

// Which maps are multiplied: those up to a layer, or that layer's alone.
struct LayerChoice {
  int64_t layer = -1;  // from the input; negative counts from the output
  bool alone = false;
};
std::vector<OptionInfo> layer_options();
LayerChoice layer_choice(const OptionReader& options);

// The read-out's row of M[l]···M[0], the later layer left, with one map [rows, tokens] per block:
// rᵀ ← rᵀ·M from the chosen layer down. Throws InvalidInput, which names `method`, for a layer that
// is not there.
using MapOfBlock = std::function<Matrix(const EncoderBlock&)>;
std::vector<double> read_out_of_product(const Run& run, const std::string& method,
                                        const LayerChoice& choice, const MapOfBlock& map_of);

}  // namespace whyformer
