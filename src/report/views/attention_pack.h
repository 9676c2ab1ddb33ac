// Attention maps made small enough to live in a page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "whyformer/explanation.h"

namespace whyformer::report {

// One layer in codes of 8 or 16 bits: weight = top · (code / (codes - 2))², so that small weights
// keep their digits; the last code stands for "not a number".
struct PackedMap {
  std::string name;
  int64_t layer = 0;  // in the model
  int64_t heads = 0;  // 1 where heads were averaged
  int64_t queries = 0;
  int64_t keys = 0;
  int bits = 16;
  double top = 0;              // the largest weight
  std::vector<uint8_t> codes;  // little-endian
};

struct PackedAttention {
  std::vector<PackedMap> maps;
  bool averaged = false;  // heads were averaged to fit
  std::string note;       // what was left out, how to get it; empty where all is there
};

// Keeps all heads in 16 bits, all heads in 8, averaged heads, or the last averaged layers: the
// first of these that needs at most `budget` bytes of codes.
PackedAttention pack_attention(const std::vector<AttentionMap>& maps, size_t budget);

// The mean over heads, [queries, keys].
std::vector<float> mean_over_heads(const AttentionMap& map);

}  // namespace whyformer::report
