// Made-up explanations of rows of tables.
#pragma once

#include "whyformer/explanation.h"

namespace whyformer::report {

// Five columns and a class token: a number, a category, a missing number, a number without
// background rows below it, and a category. Kernel SHAP adds up; gae has no score for the numbers.
Explanation row_sample();
Explanation wide_row_sample(int columns);  // numbers alone, without a background; 1 or more
Explanation hostile_row_sample();          // markup and control characters in names and cells

}  // namespace whyformer::report
