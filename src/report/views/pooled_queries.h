// Attention maps of a picture made small enough for a page: the rows of neighbouring patches become
// their mean, the heads and the keys stay.
#pragma once

#include <vector>

#include "report/views/attention_pack.h"
#include "report/views/picture_view.h"

namespace whyformer::report {

struct PooledAttention {
  PackedAttention packed;  // queries: units before the patches, blocks row by row, units after them
  int64_t block = 1;       // a row stands for block x block patches
  int64_t block_rows = 0;  // of blocks
  int64_t block_columns = 0;
};

// Blocks are the smallest with which all heads need at most `budget` bytes of codes.
PooledAttention pool_queries(const Explanation& explanation, size_t budget);

}  // namespace whyformer::report
