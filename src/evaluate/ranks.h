// Ranks and orders of scores.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace whyformer {

// From 1 for the lowest; ties share the mean of their ranks. Throws InvalidInput where a score is
// not a number.
std::vector<double> average_ranks(std::span<const double> scores);

// Indices by score, highest first; ties by index. Scores that are not a number come last.
std::vector<int64_t> descending_order(std::span<const double> scores);

bool any_not_a_number(std::span<const double> scores);

// Throws InvalidInput that names both lengths.
void require_equal_length(std::string_view what, size_t a, size_t b);

}  // namespace whyformer
