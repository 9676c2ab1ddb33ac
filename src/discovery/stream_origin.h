// Where the tokens of a stream come from.
#pragma once

#include <vector>

#include "discovery/attention_sites.h"
#include "discovery/axis_classes.h"

namespace whyformer {

// The segments of the stream whose axis class is `axis_class`.
std::vector<StreamSegment> stream_segments(const Graph& graph, const AxisClasses& classes,
                                           int axis_class, int64_t tokens);

}  // namespace whyformer
