// A weight out of packed attention maps, as the viewer's script decodes it.
#pragma once

#include <cmath>

#include "report/views/attention_pack.h"

namespace whyformer::report {

inline double unpacked_weight(const PackedMap& map, size_t index) {
  const int64_t code =
      map.bits == 8 ? map.codes[index] : map.codes[2 * index] | map.codes[2 * index + 1] << 8;
  const int64_t largest = (int64_t{1} << map.bits) - 2;
  if (code > largest) return std::nan("");
  const double share = static_cast<double>(code) / static_cast<double>(largest);
  return map.top * share * share;
}

}  // namespace whyformer::report
