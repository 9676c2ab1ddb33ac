// The scores of a summary as a grid: features down, inputs across, like inputs beside each other.
#pragma once

#include <cstdint>
#include <vector>

#include "whyformer/summary.h"

namespace whyformer::report {

constexpr size_t kMostHeatInputs = 1500;  // that are put in order; of more, every n-th

struct SummaryHeat {
  std::vector<int64_t> instances;          // from left to right
  std::vector<std::vector<double>> cells;  // [row of the summary][place]; NaN: no score
  std::vector<double> sums;                // of all scores of an input
  double scale = 0;                        // |score| of full colour: 99 % are not above it
};

SummaryHeat summary_heat(const Summary& summary);

}  // namespace whyformer::report
