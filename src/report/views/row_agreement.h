// How far the methods of one row agree with one that hides columns.
#pragma once

#include <string>

#include "whyformer/explanation.h"

namespace whyformer::report {

// Spearman's correlation of |scores| with those of the first method whose scores add up, over the
// columns that both score; empty where there is no such method or nothing to compare it with.
std::string row_agreement_sentence(const Explanation& explanation);

}  // namespace whyformer::report
