// Agreement of methods over inputs that have the same columns.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "whyformer/method_agreement.h"

namespace whyformer {

// Fills columns and by_column of a report whose methods are known; leaves them empty where the
// inputs have no columns or not the same ones.
void add_column_agreement(const std::vector<AgreementInput>& inputs,
                          const AgreementRequest& request, AgreementReport& report);

// Of n values, with n - 1 in the denominator; nothing for fewer than two.
std::optional<double> sample_deviation(std::span<const double> values);

}  // namespace whyformer
