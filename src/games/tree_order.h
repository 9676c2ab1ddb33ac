#pragma once

#include <vector>

#include "base/numpy_random.h"
#include "games/tree_layout.h"

namespace whyformer {

// A random order of players in which those below every node stand together: each node draws which
// of its halves comes first, in the order of a walk that enters that half first.
std::vector<int64_t> random_tree_order(const TreeLayout& tree, NumpyRandom& random);

}  // namespace whyformer
