// Random subsets of units that are hidden: what their scores promise and what the answer does.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "evaluate/metric.h"

namespace whyformer {

struct SubsetDrop {
  double promised = 0;  // sum of the subset's scores
  double drop = 0;      // of the answer when it is hidden
};

// Subsets of one size, or of sizes from 1 to all units, drawn with equal probability. They are the
// same for every method.
std::vector<SubsetDrop> drops_over_subsets(const Evidence& evidence, int64_t size, int64_t count);
std::vector<SubsetDrop> drops_over_all_sizes(const Evidence& evidence, int64_t count);

// Pearson's, over subsets of one size.
std::optional<double> correlation_over_subsets(const Evidence& evidence, int64_t size,
                                               int64_t count);

// Mean of (scale · promised - drop)².
double mean_squared_error(std::span<const SubsetDrop> drops, double scale);
// The scale that makes it least; nothing where all scores are 0.
std::optional<double> best_scale(std::span<const SubsetDrop> drops);

}  // namespace whyformer
