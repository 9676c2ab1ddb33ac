// Segments of a map, for metrics that compare cells with cells.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "whyformer/evaluate.h"

namespace whyformer {

// Cells whose score is strictly above the mean of the map.
std::vector<bool> above_mean(std::span<const double> scores);

// This many of the largest scores; of equal ones, those that come first.
std::vector<bool> largest_cells(std::span<const double> scores, size_t count);

size_t count_cells(const std::vector<bool>& segment);
size_t cells_in_both(const std::vector<bool>& a, const std::vector<bool>& b);

// Cells [begin, end) that follow each other in a segment, with none before and after them.
struct CellRun {
  int64_t begin = 0;
  int64_t end = 0;
};
std::vector<CellRun> runs_of(const std::vector<bool>& segment);

// Cells in both over cells in either.
Ratio intersection_over_union(const std::vector<bool>& a, const std::vector<bool>& b);

}  // namespace whyformer
