// Places for points of one row so that none covers another.
#pragma once

#include <cstddef>
#include <vector>

namespace whyformer::report {

struct Swarm {
  std::vector<double>
      offsets;  // from the middle of the row, in the order of the points; NaN: found no place
  double half_height = 0;  // the largest |offset|
  size_t left_out = 0;
};

// `places` are along the axis. Points take the free place nearest to the middle, from left to
// right, at most `room` away from it.
Swarm swarm_of(const std::vector<double>& places, double radius, double room);

}  // namespace whyformer::report
