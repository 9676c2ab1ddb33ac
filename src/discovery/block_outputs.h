// Where each encoder block ends.
#pragma once

#include <vector>

#include "discovery/attention_sites.h"

namespace whyformer {

// The stream behind each block, [examples, tokens, width]: of blocks of the usual form what their
// last addition or norm gives; of others the last value before the next attention that everything
// from this attention to the output passes through. Throws UnsupportedModel where there is none.
std::vector<Value> block_outputs(const Graph& graph, const Discovery& found, Value output);

// The second way alone.
std::vector<Value> bottlenecks(const Graph& graph, const Discovery& found, Value output);

}  // namespace whyformer
