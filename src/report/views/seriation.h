// An order in which like rows stand beside each other.
#pragma once

#include <cstddef>
#include <vector>

namespace whyformer::report {

// Complete linkage by squared Euclidean distance; of two groups that are joined, the ends that are
// nearest to each other meet (Gruvaeus and Wainer 1972). Numbers that are not finite count as 0.
// Time and memory grow with the square of the rows.
std::vector<size_t> similarity_order(const std::vector<std::vector<double>>& rows);

}  // namespace whyformer::report
