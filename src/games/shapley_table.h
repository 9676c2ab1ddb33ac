// Shapley values by their definition, from the worth of every coalition.
#pragma once

#include <cstdint>
#include <vector>

namespace whyformer {

// `table` [2^players × outputs]: bit i of the row number says whether player i is visible.
std::vector<double> shapley_from_table(const std::vector<double>& table, int64_t players,
                                       int64_t outputs);

}  // namespace whyformer
