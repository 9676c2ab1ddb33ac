#pragma once

#include <cstdint>
#include <vector>

namespace whyformer::report {

// A picture in full colour, [height, width, 3].
struct Raster {
  int64_t width = 0;
  int64_t height = 0;
  std::vector<uint8_t> rgb;
};

}  // namespace whyformer::report
