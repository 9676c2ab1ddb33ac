// Which other column the scores of a column seem to depend on.
#pragma once

#include <vector>

#include "whyformer/summary.h"

namespace whyformer {

// Fills in SummaryRow::interacts_with.
void find_interactions(Summary& summary);

// The rule of the shap package (utils.potential_interactions): inputs sorted by the column's value
// are cut into windows, and |correlation| of its scores with another column is summed over them.
// `other` is not a number where its cell is missing, which may be what matters.
double interaction_strength(const std::vector<double>& values, const std::vector<double>& scores,
                            const std::vector<double>& other);

}  // namespace whyformer
