// Scores as numbers: whether they are finite, and their sizes, whatever their sign.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace whyformer {

bool all_finite(std::span<const double> scores);
std::vector<double> magnitudes_of(std::span<const double> scores);
double sum_of_magnitudes(std::span<const double> scores);
// Divided by the power of two above the largest magnitude: no digit changes, and sums of scores
// near the largest number do not overflow.
std::vector<double> scaled_near_one(std::span<const double> scores);
// Indices from the smallest magnitude to the largest; ties by index.
std::vector<int64_t> by_magnitude(std::span<const double> scores);
// Whether each is above 1e-5 of the largest magnitude.
std::vector<bool> above_zero(std::span<const double> scores);
// Euclidean.
double distance(std::span<const double> a, std::span<const double> b);

}  // namespace whyformer
