// One element of an array output: which one, and checks of it.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace whyformer {

void check_has_elements(const std::string& output, const Shape& shape);

std::vector<int64_t> largest_element(const Tensor& output);

// The element's position in the output. Throws InvalidInput where there is none.
int64_t position_of(const std::vector<int64_t>& indices, const Shape& shape,
                    const std::string& output);

// Throws InvalidInput for an answer that is no number.
void check_finite(double value);

}  // namespace whyformer
