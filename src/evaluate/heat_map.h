// Patch scores as a picture-sized heat map: the post-processing of the reference implementations
// (Chefer et al., CVPR 2021 and ICCV 2021). Maps are row-major, in double.
// MapSize and bilinear() are declared in whyformer/evaluate.h.
#pragma once

#include <span>
#include <vector>

#include "whyformer/evaluate.h"

namespace whyformer {

// Every pixel takes the value of the patch that its middle lies in.
std::vector<double> nearest(std::span<const double> map, MapSize from, MapSize to);

// (m - smallest) / (largest - smallest); zeros where all values are the same.
std::vector<double> min_max(std::span<const double> map);

// Signed maps keep their zero: divided by the largest magnitude, so within [-1, 1].
std::vector<double> by_largest_magnitude(std::span<const double> map);

// Otsu's segment of a map within [0, 1], cut into 256 levels (⌊255 m⌋): true above the level that
// parts the pixels with the largest variance between the two sides, the first such level.
std::vector<bool> otsu_segment(std::span<const double> map);
int otsu_level(std::span<const double> map);

}  // namespace whyformer
