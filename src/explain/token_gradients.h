// From a gradient with respect to embeddings to one number per token.
#pragma once

#include <string>
#include <vector>

#include "explain/explained.h"
#include "whyformer/methods.h"

namespace whyformer {

// The option "at" that every input-gradient method has, and what it names.
OptionInfo place_option();
Place place_named(const std::string& name);

enum class Norm { kL2, kL1, kMax };
Norm norm_named(const std::string& name);

// ‖g_i‖ of each row of [tokens, width].
std::vector<double> row_norms(const Tensor& gradient, Norm norm);

// Σ_d a[i,d]·b[i,d] of each row.
std::vector<double> row_products(const Tensor& a, const Tensor& b);

// Σ_d a[i,d] of each row.
std::vector<double> row_sums(const Tensor& tensor);

}  // namespace whyformer
