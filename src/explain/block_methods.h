// What methods that look inside encoder blocks share.
#pragma once

#include <functional>
#include <vector>

#include "explain/attention_math.h"
#include "explain/explained.h"
#include "graph/blocks.h"

namespace whyformer {

// Throws UnsupportedModel that names the node at which the model is not a stack of encoder blocks.
std::vector<EncoderBlock> blocks_of(const Explained& explained);

// The read-out's share of each row that the block computes.
std::vector<double> read_out_rows(const Explained& explained, const EncoderBlock& block);

// The read-out's row of M[L-1]···M[0], the later layer left, with one map [rows, tokens] per block:
// rᵀ ← rᵀ·M from the last layer down.
using MapOfBlock = std::function<Matrix(const EncoderBlock&)>;
std::vector<double> read_out_of_product(const Explained& explained, const MapOfBlock& map_of);

}  // namespace whyformer
