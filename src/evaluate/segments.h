// Segments of a map, for metrics that compare cells with cells.
#pragma once

#include <span>
#include <vector>

#include "whyformer/evaluate.h"

namespace whyformer {

// Cells whose score is strictly above the mean of the map.
std::vector<bool> above_mean(std::span<const double> scores);

// This many of the largest scores; of equal ones, those that come first.
std::vector<bool> largest_cells(std::span<const double> scores, size_t count);

// Cells in both over cells in either.
Ratio intersection_over_union(const std::vector<bool>& a, const std::vector<bool>& b);

}  // namespace whyformer
