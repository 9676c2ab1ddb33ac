// Hidden pixels filled from what is around them.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace whyformer {

// Linear imputation (Rong et al., ICML 2022): each hidden pixel is the weighted mean of its eight
// neighbours, hidden ones too; those beside it count twice as much as those at its corners, and
// beyond the edge there are none. Of a picture that is all hidden, the mean of each channel.
// `pixels` are [channels, height, width] in row-major order, `hidden` is [height, width]. The
// equations hold up to `tolerance`, relative to the shown pixels.
std::vector<double> linearly_imputed(const std::vector<double>& pixels, const Shape& shape,
                                     const std::vector<bool>& hidden, double tolerance = 1e-10);

// With normal noise of deviation 0.01 on the hidden pixels. The noise of a pixel is always the
// same, so that equal inputs are equal.
std::vector<double> noisily_imputed(const std::vector<double>& pixels, const Shape& shape,
                                    const std::vector<bool>& hidden);

}  // namespace whyformer
