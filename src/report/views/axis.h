// A straight axis with round numbers on it.
#pragma once

#include <string>
#include <vector>

namespace whyformer::report {

struct AxisRange {
  double low = 0;
  double high = 0;
};

// Multiples of 1, 2 or 5 times a power of ten, about six of them.
std::vector<double> ticks_of(const AxisRange& range);
std::string format_tick(double tick);

}  // namespace whyformer::report
