// How alike two maps are to the eye (Wang, Bovik, Sheikh & Simoncelli, IEEE TIP 2004).
#pragma once

#include <optional>
#include <span>

#include "whyformer/evaluate.h"

namespace whyformer {

// The side of the Gaussian window: 11, as for a deviation of 1.5 cut off at 3.5 deviations; for
// smaller maps the largest odd number that fits. 0 for maps that are smaller than 3 on a side.
int64_t structure_window(MapSize size);

// Both maps are scaled to [0, 1] first. The mean over all places where the whole window lies inside
// the map, with variances of the population, K1 = 0.01 and K2 = 0.03: scikit-image's
// structural_similarity with gaussian_weights=True, sigma=1.5, use_sample_covariance=False,
// data_range=1, whose window is always 11. Nothing where a map is constant, has a number that is
// not finite, or is too small. Throws InvalidInput where sizes differ.
std::optional<double> structural_similarity(std::span<const double> a, std::span<const double> b,
                                            MapSize size);

}  // namespace whyformer
