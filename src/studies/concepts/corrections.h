// What a family of concept tests says together.
#pragma once

#include <vector>

#include "whyformer/concepts.h"

namespace whyformer {

// Fills the corrected p-values over all tests of the report (concept × layer × target), and the
// verdicts. A test that could not be made, or that has no direction, counts with p = 1.
void judge(std::vector<ConceptTest>& tests, double level);

}  // namespace whyformer
