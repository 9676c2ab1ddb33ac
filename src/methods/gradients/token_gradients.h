// From a gradient with respect to the input to one number per unit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "methods/method.h"

namespace whyformer {

// The option "at" that every input-gradient method has, and what it names.
OptionInfo depth_option();
// Throws InvalidInput for a place that this kind of input does not have.
Depth depth_named(const Input& input, const std::string& name);

enum class Norm { kL2, kL1, kMax };
Norm norm_named(const std::string& name);

// ‖g_i‖ of each row of [units, numbers].
std::vector<double> row_norms(const Tensor& gradient, Norm norm);

// Σ_d a[i,d] of each row.
std::vector<double> row_sums(const Tensor& tensor);

// a·b, element by element.
Tensor products(const Tensor& a, const Tensor& b);

// Whether norms of each vector are the only readers of what stands at `depth`: the length of those
// vectors changes nothing then, so that gradient × input is 0 but for rounding and the norm's
// epsilon (Euler's theorem).
bool is_normalised_first(const Run& run, Depth depth);
void note_if_normalised_first(const Run& run, Depth depth, Scores& scores);

// Rows at `depth` folded to a score for each unit, and to one for each pixel where there are
// pixels.
using RowFold = std::function<std::vector<double>(const Tensor& rows)>;
Scores folded(const Input& input, Depth depth, const Tensor& rows, const RowFold& fold);

}  // namespace whyformer
